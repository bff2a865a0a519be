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

// Options that several sub-commands share. Each group adds itself to a command, and is read after parsing.
namespace joust {

inline constexpr Duration kLongestTime = std::chrono::hours(24);

// Add options whose values have units: "10k", "64KiB", "10ms". A value that does not fit is a usage error.
Option add_count(Command command, const std::string& flags, std::uint64_t& into, const std::string& help,
                 std::uint64_t least = 1, std::uint64_t most = 1'000'000'000);
Option add_bytes(Command command, const std::string& flags, std::uint64_t& into, const std::string& help,
                 std::uint64_t least = 0, std::uint64_t most = 1U << 30);
Option add_rate(Command command, const std::string& flags, double& into, const std::string& help);
Option add_duration(Command command, const std::string& flags, Duration& into, const std::string& help,
                    Duration least = {}, Duration most = kLongestTime);

// Return what such an option would say of the text; empty: it would take it.
std::string objection_to_count(const std::string& text, std::uint64_t least, std::uint64_t most);
std::string objection_to_duration(const std::string& text, Duration least, Duration most);

// Adds --max-memory of servers: Limits::memory.
void add_memory_limit(Command command, std::optional<std::uint64_t>& into);

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

// Returns the protocol of -p PROTOCOL. Throws UsageError with the nearest name.
const Protocol& resolve_protocol(const Program& program, const std::string& name);

// Pins the calling thread, and threads that it starts later, to the CPUs of a list such as "0" or "0-1,3".
// Does nothing if the list is empty.
void pin(const std::string& cpus);

// Raises this process's limit of open files as far as possible.
void raise_descriptor_limit();

// Throws UsageError where so many connections of that client do not fit even into the raised limit. `where`
// names their source: "-c".
void ensure_descriptors(const std::string& where, std::uint64_t connections, const Engine& client);

}  // namespace joust
