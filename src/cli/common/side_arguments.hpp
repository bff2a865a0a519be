// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/command.hpp"
#include "engines/engine.hpp"
#include "net/address.hpp"
#include "net/socket_options.hpp"

// The options of one side of a connection, a server or a load: sockets, engine and protocol. Each group adds
// itself to a command, and is read after parsing.
namespace joust {

// The TCP options, the same for every engine.
struct SocketArguments {
  SocketOptions options;
  bool congestion_chosen = false;  // by the user: no other algorithm is used in its place
  bool nodelay_chosen = false;

  void add_to(Command command);

  // Takes what a result says of its sockets, unless the command line says otherwise.
  void take_stored(std::optional<bool> nodelay, const std::optional<std::string>& congestion);

  std::string given() const;  // an option that is given, with its flag; empty: none is

  // Refuses options that sockets of the transport cannot have, and chooses the congestion control.
  void settle(const Endpoint& endpoint, Transport transport, Tally& tally);
};

// The options of an engine: -e ENGINE or ENGINE:KNOB=VALUE, -t N, --wait W, every knob of every engine, and
// --cpus.
struct EngineArguments {
  std::string engine = "epoll";
  std::uint64_t threads = 1;
  std::string wait = "block";
  Settings knobs;  // as given
  std::string cpus;

  void add_to(Command command);

  // Splits an engine with knobs, "epoll:trigger=level", the form that a race uses. Options of the protocol go
  // to `options`, those of TCP to `socket`. Throws UsageError, also for a knob that is given as a flag too.
  void take_knobs(const Program& program, Settings& options, SocketArguments& socket);

  // Takes the engine of a result with its knobs, unless -e is given. --threads, --wait and knobs that are
  // given stay. Knobs that have their default value are left out: they would count as given.
  void take_stored(const std::string& stored_engine, std::uint64_t stored_threads,
                   const std::string& stored_wait, const Settings& stored_knobs);

  // See checked_engine() and engine_options() in hosting/options.hpp.
  const Engine& resolve(Role role, const Protocol& protocol) const;
  EngineOptions options(const Engine& engine) const;

  // Describes for the user the given options that have no meaning for the engine.
  std::vector<std::string> remarks(const Engine& engine) const;

 private:
  std::optional<Option> engine_option_;
  std::map<std::string, Option> flags_;  // --threads and --wait, which are no engine's own knobs
};

// Pins the calling thread, and threads that it starts later, to the CPUs of a list such as "0" or "0-1,3".
// Does nothing if the list is empty.
void pin(const std::string& cpus);

// Returns the protocol of -p PROTOCOL. Throws UsageError with the nearest name.
const Protocol& resolve_protocol(const Program& program, const std::string& name);

// The option -p PROTOCOL, and every option of every protocol of the program.
struct ProtocolArguments {
  std::string name;  // as given
  std::optional<Option> name_option{};
  Settings given;  // options by name

  // Adds the options. --help shows those of one side, or of both. The others are accepted too, and refused
  // later with a reason.
  void add_to(Command command, const Program& program, Role side);
  void add_options_to(Command command, const Program& program, std::optional<Role> side = {});  // without -p

  // Returns the chosen protocol. Throws UsageError with the nearest name.
  const Protocol& resolve(const Program& program) const;

  // Takes the options of a result, without those that have their default value: they would count as given.
  // Throws UsageError for one whose bytes the result lacks, or that the command line gives another value.
  void take_stored(const Protocol& protocol, const Settings& stored);

  // See check_options() in hosting/options.hpp and parameters_of() in joust/protocol.hpp.
  Parameters parameters(const Protocol& protocol, Role side) const;
  void check(const Protocol& protocol, bool serves, bool loads) const;
};

}  // namespace joust
