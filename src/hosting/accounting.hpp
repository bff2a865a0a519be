// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/watches.hpp"
#include "connection/account.hpp"
#include "joust/limits.hpp"

namespace joust {

struct Engine;  // engines/engine.hpp

// Watches the memory and the open files of a server's process. If it uses more than its limit, connections
// give way, and memory of ended connections is returned to the machine. The figures come from the kernel,
// because only it counts all parts of a program and its libraries.
class Watch {
 public:
  // `room`: bytes of anonymous memory that the process may use beside those that it has at its `start`.
  Watch(Account& account, std::uint64_t room, std::uint64_t start = 0)
      : account_(account), room_(room), limit_(start + room) {}

  // Checks the present use of the process once. Returns whether it is beyond its limits. Any thread, one at a
  // time.
  bool look() noexcept;
  // Checks these figures: the bytes used, and whether few descriptors are left.
  void look(std::uint64_t used, bool few_descriptors, Time now);

  // While less than half of the room is used, only one call of so many looks: it costs some ten system calls.
  static constexpr unsigned kCallsOfCalm = 4;

 private:
  void look_at_memory(std::uint64_t used, Time now);

  Account& account_;
  const std::uint64_t room_;
  const std::uint64_t limit_;
  std::size_t most_open_ = 0;  // greatest number of connections since memory was given back
  bool is_calm_ = true;        // less than half of the room is used
  unsigned calls_ = 0;         // of look()
  Time ended_{};               // when connections were last ended for memory
  Time gives_back_at_{};       // when memory may be given back next
};

// Returns the bytes of this process's anonymous memory, which belongs to no file; 0 where the system does not
// report it.
std::uint64_t own_memory();

// Returns true if at most a 16th of the open files that this process may have is left.
bool few_descriptors_left();

// The account of a server, and the watch of its process: by the engine's only loop, as a second thread makes
// each system call of a process dearer, or else by a thread. Exists from before the engine runs until after
// it.
class Accounting {
 public:
  // Makes no account for engines whose connections cannot give way.
  Accounting(const Engine& engine, unsigned threads, const Limits& limits, Tally& tally);

  Account* account() { return account_ ? &*account_ : nullptr; }
  // For Hosting::chore.
  std::function<bool()> chore() {
    if (!watch_ || watching_) return {};
    return [this] { return watch_->look(); };
  }

 private:
  std::optional<Account> account_;
  std::optional<Watch> watch_;
  std::optional<Periodic> watching_;
};

}  // namespace joust
