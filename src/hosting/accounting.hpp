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

// Looks after the memory of a server: where its process takes more than the limit, connections give way, and
// what those that have ended leave free goes back to the machine. It asks the kernel, because it alone knows
// what all parts of a program and its libraries take.
class MemoryWatch {
 public:
  // `limit`: bytes of memory that belongs to no file.
  MemoryWatch(Account& account, std::uint64_t limit) : account_(account), limit_(limit) {}

  // Looks once, at what the process has. Any thread, one at a time.
  void look() noexcept;
  // The same, where it has so much.
  void look(std::uint64_t used, Time now);

  static constexpr Duration kPeriod = std::chrono::milliseconds(100);

 private:
  Account& account_;
  const std::uint64_t limit_;
  std::size_t most_open_ = 0;  // connections, since memory was given back
  Time gave_back_{};           // where there was too little
};

// The bytes that this process has of memory that belongs to no file; 0 where the system does not tell.
std::uint64_t own_memory();

// The account of a server, and a thread that watches its memory: from before the engine runs until after it.
class Accounting {
 public:
  // There is no account for engines whose connections cannot give way.
  Accounting(const Engine& engine, const Limits& limits, Tally& tally);

  Account* account() { return account_ ? &*account_ : nullptr; }

 private:
  std::optional<Account> account_;
  std::optional<MemoryWatch> memory_;
  std::optional<Periodic> watching_;
};

}  // namespace joust
