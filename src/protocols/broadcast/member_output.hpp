// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "joust/framing.hpp"
#include "joust/handler.hpp"
#include "joust/outbox.hpp"
#include "joust/session.hpp"
#include "protocols/broadcast/options.hpp"
#include "protocols/broadcast/room_log.hpp"

namespace joust::broadcast {

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
