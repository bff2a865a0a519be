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

// Options that several sub-commands share: each group adds itself to a command, and is read after parsing.
namespace joust {

inline constexpr Duration kLongestTime = std::chrono::hours(24);

// Options whose values people write with units: "10k", "64KiB", "10ms". What does not fit is a usage error.
Option add_count(Command command, const std::string& flags, std::uint64_t& into, const std::string& help,
                 std::uint64_t least = 1, std::uint64_t most = 1'000'000'000);
Option add_bytes(Command command, const std::string& flags, std::uint64_t& into, const std::string& help,
                 std::uint64_t least = 0, std::uint64_t most = 1U << 30);
Option add_rate(Command command, const std::string& flags, double& into, const std::string& help);
Option add_duration(Command command, const std::string& flags, Duration& into, const std::string& help,
                    Duration least = {}, Duration most = kLongestTime);

// --max-memory of servers: Limits::memory.
void add_memory_limit(Command command, std::optional<std::uint64_t>& into);

// TCP options, the same for every engine.
struct SocketArguments {
  SocketOptions options;
  bool congestion_chosen = false;  // by the user: then it is that one or none
  bool nodelay_chosen = false;

  void add_to(Command command);

  // Refuses what sockets of the transport cannot have, and settles the congestion control.
  void settle(const Endpoint& endpoint, Transport transport, Tally& tally);
};

// -e ENGINE or ENGINE:KNOB=VALUE, -t N --wait W, every knob any engine has, and --cpus.
struct EngineArguments {
  std::string engine = "epoll";
  std::uint64_t threads = 1;
  std::string wait = "block";
  Settings knobs;  // as given
  std::string cpus;

  void add_to(Command command);

  // Takes an engine with knobs apart, "epoll:trigger=level" as a race has it; options of the protocol go to
  // `options`, those of TCP to `socket`. Throws UsageError, also for a knob that is given as a flag too.
  void take_knobs(const Program& program, Settings& options, SocketArguments& socket);

  // See checked_engine() and engine_options() in hosting/options.hpp.
  const Engine& resolve(Role role, const Protocol& protocol) const;
  EngineOptions options(const Engine& engine) const;

  // What was given but means nothing to the engine, in words for the user.
  std::vector<std::string> remarks(const Engine& engine) const;

 private:
  std::map<std::string, Option> flags_;  // of the knobs that are no engine's own
};

// -p PROTOCOL of this program. Throws UsageError with the nearest name.
const Protocol& resolve_protocol(const Program& program, const std::string& name);

// Pins the calling thread, and those it starts later, to the CPUs of a list such as "0" or "0-1,3"; empty:
// nothing.
void pin(const std::string& cpus);

// Raises this process's limit of open files as far as it may.
void raise_descriptor_limit();

// Throws UsageError where so many connections of that client do not fit even then. `where` says where they
// were asked for: "-c".
void ensure_descriptors(const std::string& where, std::uint64_t connections, const Engine& client);

}  // namespace joust
