// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
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
// welcome. Words come between two messages of the log: those that were in the log before them are sent
// first, and the others when the words are released. So the output is at any time one part of the log, and
// then words. One thread at a time.
class MemberOutput {
 public:
  MemberOutput(const RoomRules& rules, const Framing& framing) : rules_(rules), framing_(framing) {}

  // Writes words by write(writer).
  template <typename Write>
  void say(Write&& write) {
    Writer writer(framing_, words_);
    write(writer);
    if (reader_ && says()) reader_->stop_here();
  }
  // Begins to send the log, from here on.
  void follow(RoomLog& log);
  // Sends nothing of the log that is appended after this.
  void stop();

  // Like Session::output, consumed and released.
  std::size_t segments(std::span<Segment> into) const;
  void consumed(std::size_t n);
  void released(std::size_t n);

  bool empty() const { return words_.empty() && (!reader_ || reader_->caught_up()); }
  bool says() const { return !words_.empty() || unreleased_ > 0; }  // words are not released
  bool given_up() const { return reader_ && reader_->given_up(); }
  std::size_t memory() const { return words_.size(); }  // the log is the room's

 private:
  std::size_t first_frame() const;

  const RoomRules& rules_;
  const Framing& framing_;
  Outbox words_;
  std::size_t unreleased_ = 0;             // consumed bytes of the words
  std::optional<RoomLog::Reader> reader_;  // stopped while there are words
  std::size_t frame_left_ = 0;             // unsent bytes of the current frame, if each is sent alone
  bool stopped_ = false;
};

}  // namespace joust::broadcast
