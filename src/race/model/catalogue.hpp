// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.hpp"
#include "engines/engine_choice.hpp"
#include "joust/protocol.hpp"

// The engines and protocols that can be raced. A race refers to them by name only, and tests invent some. The
// program fills this from its tables.
namespace joust::race {

inline constexpr std::string_view kDefaultClient = "epoll";

struct Case;      // scenario.hpp
struct FilePlan;  // scenario.hpp
struct Entry;     // race/model/result.hpp

// Returns whether an option, which the children get as --NAME VALUE, is valid for a side.
bool is_for(const ProtocolOption& option, Role role);

// An engine, with what this machine makes of it.
struct EngineRow {
  const Engine* engine;  // outlives the catalogue
  // Why it cannot run here; empty if it can.
  std::string unavailable = engine->unavailable ? engine->unavailable() : std::string();
};

// A protocol, with what the engines of this machine make of it.
struct ProtocolRow {
  const Protocol* protocol;  // outlives the catalogue
  std::string_view name = protocol->name;
  // The engines that do not fit as server or as client, with the reason.
  std::map<std::string, std::string> unsupported{}, unsupported_clients{};
  // Returns why the entry's engines cannot support its options with the load of this case; empty if they can.
  // Null: they can.
  std::function<std::string(const Entry&, const Case&)> objection{};

  const ProtocolOption* option(const std::string& wanted) const;  // null if no option has that name
};

struct Catalogue {
  std::vector<EngineRow> engines{};
  std::vector<ProtocolRow> protocols{};
  // The rows of the plug-ins loaded so far, shared by all copies. load_plugin() adds to them.
  std::shared_ptr<std::deque<ProtocolRow>> plugins = std::make_shared<std::deque<ProtocolRow>>();
  // Loads the plug-in in a file and returns its row, or why it cannot be used. Null: there are no plug-ins.
  std::function<std::expected<const ProtocolRow*, std::string>(const std::string& file)> load_plugin{};
  // Returns true if a program of that name is installed. Null: any program is.
  std::function<bool(const std::string& name)> has_program{};
  // Returns why the files of a case and a copy of them do not fit in their place, beside `beside` bytes of
  // other cases; empty if they do. Null: they do.
  std::function<std::string(const FilePlan& files, std::uint64_t beside)> no_room{};
  // Returns why commands that move files cannot move them here; empty if they can. Null: they can.
  std::function<std::string(const std::string& server, const std::string& transfer)> no_transfer{};

  const Engine* engine(const std::string& name) const;  // null if no engine has that name
  // Returns why an engine cannot run here; empty if it can, or if no engine has that name.
  std::string unavailable(const std::string& engine) const;
  // Returns the client engine for a server engine where none is chosen: kDefaultClient for a stream.
  // Otherwise the same engine if it dials, or the first engine with the same kind of delivery.
  std::string standard_client(const std::string& server) const;
  const ProtocolRow* protocol(const std::string& name) const;  // null if no protocol has that name
};

}  // namespace joust::race
