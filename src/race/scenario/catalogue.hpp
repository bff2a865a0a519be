// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine_choice.hpp"
#include "joust/settings.hpp"
#include "race/scenario/files.hpp"

// The engines and protocols that can be raced, as plain data. A race refers to them by name only, so that its
// logic can be tested with invented ones. The program fills this from its tables.
namespace joust::race {

inline constexpr std::string_view kDefaultClient = "epoll";

struct Case;   // scenario.hpp
struct Entry;  // race/result.hpp

// An option of a protocol, passed to the children as --NAME VALUE.
struct OptionRow {
  std::string name{};
  std::vector<std::string> choices{};  // empty: any text
  bool serves = true;                  // valid for the server
  bool loads = true;                   // valid for the client
  bool in_ceiling = true;              // false: it costs the server's time, and a ceiling does without it
};

struct ProtocolRow {
  std::string name{};
  std::uint64_t least_payload_bytes = 1;
  std::uint64_t largest_payload_bytes = 1 << 20;
  std::string no_payload{};                          // why --payload has no meaning; empty if it has
  bool takes_turns = false;                          // the connections of its load can rest
  bool counts_turns = false;                         // only between two messages, and these are transfers
  std::vector<std::string> options_without_turns{};  // with one of these they cannot
  bool has_ceiling = true;  // a load without sockets shows the client's highest throughput
  std::vector<OptionRow> options{};
  std::string verified = "byte for byte";  // how replies are checked
  // Engines that do not fit as server, and as client, with the reason.
  std::map<std::string, std::string> unsupported{}, unsupported_clients{};
  // Why the entry's engines cannot do what its options ask with the load of this case; empty if they can.
  // Null: they can.
  std::function<std::string(const Entry&, const Case&)> objection{};

  // Why an option has no effect on a side, for a client with these options; empty if it has. Null: all have.
  std::function<std::string(const std::string& option, Role side, const Settings& client)> no_effect{};
  // The server's options, with what the client's need because a race repeats its load. Throws
  // std::invalid_argument where they do not fit. Null: the given ones.
  std::function<Settings(const Settings& server, const Settings& client)> repeatable{};

  const OptionRow* option(const std::string& wanted) const;  // null if there is none of that name
};

struct Catalogue {
  std::vector<EngineRow> engines{};
  std::vector<ProtocolRow> protocols{};
  // True if a program of that name is installed. Null: any is.
  std::function<bool(const std::string& name)> has_program{};
  // Why the files of a case, and a copy, do not fit where they are to be, with so many bytes of other cases;
  // empty if they do. Null: they do.
  std::function<std::string(const FilePlan& files, std::uint64_t beside)> no_room{};

  const EngineRow* engine(const std::string& name) const;  // null if there is none of that name
  // The client engine for a server engine where none is chosen: kDefaultClient for a stream, otherwise the
  // same engine if it dials, or the first that delivers alike.
  std::string standard_client(const std::string& server) const;
  const ProtocolRow* protocol(const std::string& name) const;  // likewise
};

}  // namespace joust::race
