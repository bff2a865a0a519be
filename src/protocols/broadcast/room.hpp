// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "joust/bytes.hpp"
#include "joust/framing.hpp"
#include "joust/handler.hpp"
#include "joust/outbox.hpp"
#include "joust/service.hpp"
#include "joust/session.hpp"
#include "joust/time.hpp"
#include "protocols/broadcast/protocol.hpp"
#include "protocols/broadcast/room_log.hpp"

namespace joust::broadcast {

// The time for which a member keeps its number without a message.
inline constexpr Duration kHeldFor = std::chrono::seconds(30);

// A number that a member has. Any thread.
class Membership {
 public:
  explicit Membership(Time now) : active_at_(now) {}

  void touch(Time now) { active_at_.store(now, std::memory_order_relaxed); }
  Time active_at() const { return active_at_.load(std::memory_order_relaxed); }
  void revoke() { revoked_.store(true, std::memory_order_release); }
  bool is_revoked() const { return revoked_.load(std::memory_order_acquire); }

 private:
  std::atomic<Time> active_at_;  // when its member has joined or sent a message
  std::atomic<bool> revoked_{false};
};

// The state that the sessions of a server share: the members, and the log. Any thread.
class Room {
 public:
  explicit Room(const RoomRules& rules) : rules_(rules), log_(rules.room_bytes) {}

  // Adds a member. Returns nothing if the number is too large, or taken. The number of a member that has sent
  // no message for kHeldFor is free: the new member takes it over, and publications() are announced, so that
  // the other one ends.
  std::shared_ptr<Membership> join(std::uint32_t member, Time now);
  void leave(std::uint32_t member, const Membership& membership);
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
  std::map<std::uint32_t, std::shared_ptr<Membership>> members_;
};

// The output of one connection: the room's log, once it is a member, and words for it alone, such as its
// welcome. Words come between two messages of the log: behind those that were in the log before them. Of the
// output only the next part of the log and the next words are shown, and what is behind them when these are
// released. One thread at a time.
class MemberOutput {
 public:
  MemberOutput(const RoomRules& rules, const Framing& framing) : rules_(rules), framing_(framing) {}

  // Writes words by write(writer).
  template <typename Write>
  void say(Write&& write) {
    const std::size_t before = words_.size();
    Writer writer(framing_, words_);
    write(writer);
    if (words_.size() > before) said(words_.size() - before);
  }
  // Begins to send the log, from here on.
  void follow(RoomLog& log);
  // Sends nothing that is appended to the log after this. Last words are written after it.
  void stop();

  // Like Session::output, consumed and released.
  std::size_t segments(std::span<Segment> into) const;
  void consumed(std::size_t n);
  void released(std::size_t n);

  bool empty() const { return words_.empty() && (!reader_ || reader_->caught_up()); }
  bool says() const { return !waiting_.empty(); }  // words are not released
  bool says_much() const { return words_.size() >= kMuch; }
  bool given_up() const { return reader_ && reader_->given_up(); }
  std::size_t memory() const;  // the log is the room's

 private:
  static constexpr std::size_t kMuch = 64 << 10;  // bytes

  // Words that come at one position of the log.
  struct Words {
    std::uint64_t at;
    std::size_t bytes;  // not consumed
  };

  void said(std::size_t bytes);
  void limit_log();
  std::size_t first_frame() const;

  const RoomRules& rules_;
  const Framing& framing_;
  Outbox words_;
  std::deque<Words> waiting_;   // the words that are not released, in order
  std::size_t unreleased_ = 0;  // consumed bytes of the first of them
  RoomLog* log_ = nullptr;
  std::optional<RoomLog::Reader> reader_;
  std::optional<std::uint64_t> end_;  // position in the log, after stop()
  std::size_t frame_left_ = 0;        // unsent bytes of the current frame, if each is sent alone
};

}  // namespace joust::broadcast
