// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>

#include "joust/bytes.hpp"
#include "joust/service.hpp"
#include "protocols/broadcast/options.hpp"
#include "protocols/broadcast/room_log.hpp"

namespace joust::broadcast {

// The state that the sessions of a server share: the members, and the log. Any thread.
class Room {
 public:
  explicit Room(const RoomRules& rules) : rules_(rules), log_(rules.room_bytes) {}

  // Adds a member. Returns false if the number is taken or too large.
  bool join(std::uint32_t member);
  void leave(std::uint32_t member);
  // While the log is sent to a group of all members, a member does not read it.
  void set_group(bool is_there) { has_group_ = is_there; }
  bool has_group() const { return has_group_; }
  void append(Bytes frame, Time now);

  const RoomRules& rules() const { return rules_; }
  void count_slow_peer() { too_slow_.fetch_add(1, std::memory_order_relaxed); }
  RoomLog& log() { return log_; }
  Publications& publications() { return publications_; }
  ResultGroup results() const;

 private:
  const RoomRules rules_;
  RoomLog log_;
  Publications publications_;
  std::atomic<bool> has_group_{false};
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> too_slow_{0};  // members disconnected for being too slow
  std::mutex mutex_;
  std::set<std::uint32_t> members_;
};

}  // namespace joust::broadcast
