// SPDX-License-Identifier: MIT
//
// Detects peers that are too slow for the connection, upload or open file that they hold.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "files/protocol/server_session.hpp"

namespace joust::file {

void ServerSession::watch_rates(Time now) {
  const bool of_upload = state_ == State::receiving || state_ == State::discarding;
  const bool waited_for = want() != Want::nothing;
  incoming_rate_.expect(!over_ && (of_upload || decoder_.in_message()), waited_for, now);
  outgoing_rate_.expect(outgoing_.waiting() > 0, true, now);
  for (BegunUpload& begun : begun_) begun.growth.expect(!over_, waited_for, now);
}

void ServerSession::check_rates(Time now) {
  forget_complete_uploads();  // another connection may have sealed an upload since, which grows no more
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

// Ends peers whose uploads do not grow. The protocol has no message for giving an offered file up. If the
// client sends other requests meanwhile, such a file is forgotten: its place is free, and the client is not
// too slow. A client that does nothing else gets the error.
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

// Counts the sender's digest as growth of an upload that has all its bytes: the sender seals it after reading
// the file from a slow disk. The digested bytes are limited by the file's size, as the received bytes are.
void ServerSession::sender_works(const Working& working) {
  for (BegunUpload& begun : begun_) {
    const std::uint64_t done = std::min(working.done, begun.size);
    if (done > begun.digested && begun.upload->awaits_seal())
      begun.growth.moved(done - std::exchange(begun.digested, done));
  }
}

// Measures the growth of an upload over all its connections together: one of them may have sent its range,
// and wait for the others.
bool ServerSession::BegunUpload::grows(Time now) {
  const std::uint64_t before = std::exchange(received, upload->received());
  growth.moved(received - before);
  return !growth.missed(now);
}

// Ends a slow peer. Its resources are freed at once, even if it never reads the error.
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
