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

#include "engines/engine_choice.hpp"
#include "joust/protocol.hpp"
#include "race/model/files.hpp"

// The engines and protocols that can be raced, as plain data. A race refers to them by name only, so that its
// logic can be tested with invented ones. The program fills this from its tables.
namespace joust::race {

inline constexpr std::string_view kDefaultClient = "epoll";

struct Case;   // scenario.hpp
struct Entry;  // race/model/result.hpp

// Returns whether an option, which the children get as --NAME VALUE, is valid for a side.
bool is_for(const ProtocolOption& option, Role role);

struct ProtocolRow {
  std::string name{};
  std::string plugin{};  // the path of its plug-in; empty for a protocol of the program
  std::uint64_t least_payload_bytes = 1;
  std::uint64_t largest_payload_bytes = 1 << 20;
  std::string no_payload{};                          // why --payload has no meaning; empty if it has
  bool takes_turns = false;                          // the connections of its load can rest
  bool counts_turns = false;                         // only between two messages, which are transfers
  std::vector<std::string> options_without_turns{};  // with one of these its connections cannot rest
  bool has_ceiling = true;  // a load without sockets shows the client's highest throughput
  // Returns why there is none with these options of a server; empty if there is. Null: `has_ceiling` decides.
  std::function<std::string(const Settings& server, const Settings& client)> no_ceiling{};
  std::vector<ProtocolOption> options{};
  std::string verified = "byte for byte";  // how replies are checked
  // Returns it for a client with these options; an empty text if any reply counts. Null: `verified`.
  std::function<std::string(const Settings& client)> verified_by{};
  // The engines that do not fit as server or as client, with the reason.
  std::map<std::string, std::string> unsupported{}, unsupported_clients{};
  // Returns why the entry's engines cannot support its options with the load of this case; empty if they can.
  // Null: they can.
  std::function<std::string(const Entry&, const Case&)> objection{};

  // Returns why an option has no effect on a side, for a client with these options; empty if it has one.
  // Null: all options have an effect.
  std::function<std::string(const std::string& option, Role side, const Settings& client)> no_effect{};
  // Returns the server's options with the additions that the client's options need because a race repeats its
  // load. Throws std::invalid_argument where they do not fit. Null: the given options.
  std::function<Settings(const Settings& server, const Settings& client)> repeatable{};

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

  const EngineRow* engine(const std::string& name) const;  // null if no engine has that name
  // Returns the client engine for a server engine where none is chosen: kDefaultClient for a stream.
  // Otherwise the same engine if it dials, or the first engine with the same kind of delivery.
  std::string standard_client(const std::string& server) const;
  const ProtocolRow* protocol(const std::string& name) const;  // null if no protocol has that name
};

}  // namespace joust::race
