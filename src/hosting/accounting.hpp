// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/periodic.hpp"
#include "connection/account.hpp"
#include "joust/limits.hpp"

namespace joust {

struct Engine;  // engines/engine.hpp

// Looks after the memory and the open files of a server's process: where it takes more than it may,
// connections give way, and memory of those that have ended goes back to the machine. It asks the kernel,
// because it alone knows what all parts of a program and its libraries take.
class Watch {
 public:
  // `room`: bytes of memory that belongs to no file, beside those that the process has at its `start`.
  Watch(Account& account, std::uint64_t room, std::uint64_t start = 0)
      : account_(account), room_(room), limit_(start + room) {}

  // Looks once, at what the process has. Any thread, one at a time.
  void look() noexcept;
  // The same, where it has so many bytes, and few descriptors are left or not.
  void look(std::uint64_t used, bool few_descriptors, Time now);

  static constexpr Duration kPeriod = std::chrono::milliseconds(25);

 private:
  void look_at_memory(std::uint64_t used, Time now);

  Account& account_;
  const std::uint64_t room_;
  const std::uint64_t limit_;
  std::size_t most_open_ = 0;  // connections, since memory was given back
  Time ended_{};               // the last time that connections were ended for that
};

// The bytes that this process has of memory that belongs to no file; 0 where the system does not tell.
std::uint64_t own_memory();

// True where a 16th of the open files that this process may have is left, or less.
bool few_descriptors_left();

// The account of a server, and a thread that watches what its process takes: from before the engine runs
// until after it.
class Accounting {
 public:
  // There is no account for engines whose connections cannot give way.
  Accounting(const Engine& engine, const Limits& limits, Tally& tally);

  Account* account() { return account_ ? &*account_ : nullptr; }

 private:
  std::optional<Account> account_;
  std::optional<Watch> watch_;
  std::optional<Periodic> watching_;
};

}  // namespace joust
