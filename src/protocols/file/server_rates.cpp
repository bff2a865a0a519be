// SPDX-License-Identifier: MIT
//
// Peers too slow for the connection, upload or open file that they hold.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "protocols/file/server_session.hpp"

namespace joust::file {

void ServerSession::watch_rates(Time now) {
  const bool of_upload = state_ == State::receiving || state_ == State::discarding;
  const bool waited_for = want() != Want::nothing;
  incoming_rate_.expect(!over_ && (of_upload || decoder_.in_message()), waited_for, now);
  outgoing_rate_.expect(outgoing_.waiting() > 0, true, now);
  for (BegunUpload& begun : begun_) begun.growth.expect(!over_, waited_for, now);
}

void ServerSession::check_rates(Time now) {
  forget_complete_uploads();  // another connection may have sealed one since: it grows no more
  if (outgoing_rate_.missed(now)) {
    gives_up_ = true;
    return end_slow_peer("an answer is read " + outgoing_rate_.complaint());
  }
  if (incoming_rate_.missed(now)) {
    const bool of_upload = state_ == State::receiving || state_ == State::discarding;
    return end_slow_peer((of_upload ? "an upload comes " : "a request comes ") + incoming_rate_.complaint());
  }
  check_growth(now);
}

// A client that has given up an offered file has no word for it. While it goes on with others, the file is
// forgotten: its place is free, and nobody else is to blame. Who does nothing else is told.
void ServerSession::check_growth(Time now) {
  for (std::size_t i = 0; i < begun_.size();) {
    BegunUpload& begun = begun_[i];
    const bool over = begun.growth.deadline().value_or(Time::max()) <= now;
    const std::uint64_t before = over ? std::exchange(begun.requests, requests_) : requests_;
    const bool in_hand = upload_ == begun.upload;
    if (begun.grows(now)) {
      ++i;
    } else if (begun.offered && !in_hand && (state_ != State::idle || before != requests_)) {
      begun_.erase(begun_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      return end_slow_peer("an incomplete upload grows " + begun.growth.complaint());
    }
  }
}

// All of it is there, and will be sealed when its sender has read it from a slow disk. There is an end to the
// bytes that are digested, as there is to those that come.
void ServerSession::sender_works(const Working& working) {
  for (BegunUpload& begun : begun_) {
    const std::uint64_t done = std::min(working.done, begun.size);
    if (done > begun.digested && begun.upload->awaits_seal())
      begun.growth.moved(done - std::exchange(begun.digested, done));
  }
}

// The rate of an upload is that of all its connections together: one of them may have sent its range, and
// wait for the others.
bool ServerSession::BegunUpload::grows(Time now) {
  const std::uint64_t before = std::exchange(received, upload->received());
  growth.moved(received - before);
  return !growth.missed(now);
}

// The peer's resources are freed at once, even if it never reads the error.
void ServerSession::end_slow_peer(const std::string& what) {
  ++server_.too_slow;
  const bool in_hand = state_ == State::receiving || state_ == State::discarding;
  violated(in_hand ? request_ : 0, {FileError::too_slow, what});
  begun_.clear();
}

std::optional<Time> ServerSession::deadline() const {
  auto due = earlier(incoming_rate_.deadline(), outgoing_rate_.deadline());
  for (const BegunUpload& begun : begun_) due = earlier(due, begun.growth.deadline());
  if (!waiting_.empty()) due = earlier(due, look_at_disk_);
  return works() && !is_listing_unread() ? earlier(due, due_) : due;
}

}  // namespace joust::file
