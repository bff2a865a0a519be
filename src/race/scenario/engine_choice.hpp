// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "race/model/catalogue.hpp"
#include "race/model/scenario.hpp"

// Engines with their knobs, as text: "epoll:trigger=level".
namespace joust::race {

// The errors of the functions below name the allowed values and the nearest match.
std::expected<EngineChoice, std::string> parse_engine(std::string_view text, Role role,
                                                      const Catalogue& catalogue);

// Sets a knob, like set_knob() of engines/engine_choice.hpp. A name that is not a knob may be an option of
// any protocol; complete() checks that it is one of the case's.
std::expected<void, std::string> set_knob(EngineChoice& choice, const std::string& knob,
                                          const std::string& value, Role role, const Catalogue& catalogue);

// Returns the text of a switch, as flags have it.
std::string_view on_off(bool value);

// Describes an engine with its non-default settings: "epoll", or "epoll:trigger=level".
std::string describe(const EngineChoice& choice);

// Returns the name, with a number where it is taken: "epoll", "epoll#2", "epoll#3".
std::string free_name(const std::string& name, std::span<const std::string> taken);

// Returns the name of a contestant that was given none. It is its server, with a number if one of `others`
// has this name and is equal in everything. For a command it is the program, with a number if the name is
// taken.
std::string standard_name(const Contestant& contestant, std::span<const Contestant> others);

// Pairs every server with its standard client.
std::vector<Contestant> every_server(const std::vector<EngineChoice>& servers, const Catalogue& catalogue);

// Says that so many servers with so many clients are more than kMostEntries contestants.
std::string too_many_pairs(std::size_t servers, std::size_t clients);

// Pairs every contestant's server with every client, in place of its own. Several clients are in the names:
// "epoll/threads". Equal clients have numbers.
std::vector<Contestant> with_clients(const std::vector<Contestant>& servers,
                                     const std::vector<EngineChoice>& clients);

// Replaces each engine of the scenario by one contestant for each transport, which are words such as "tcp". A
// command listens where it does, and stays as it is.
std::expected<void, std::string> sweep_transports(const std::vector<std::string>& transports,
                                                  Scenario& scenario, const Catalogue& catalogue);

}  // namespace joust::race
