// SPDX-License-Identifier: MIT
#include "load/request_writer.hpp"

#include <fmt/format.h>

#include "session/handler_session.hpp"

namespace joust {

bool RequestWriter::write_greeting() {
  const auto number = number_bytes(kGreetingNumber);
  Writer greeting(framing_, outbox_, numbered_ ? Bytes(number) : Bytes());
  return exchange_.write_greeting(greeting);
}

void RequestWriter::write_more_greeting() {
  Writer greeting(framing_, outbox_);
  exchange_.write_more_greeting(greeting);
}

std::uint64_t RequestWriter::write_request() {
  const std::size_t before = outbox_.size();
  if (numbered_) {
    const auto number = number_bytes(requests_);
    Writer request(framing_, outbox_, number);
    exchange_.write_request(requests_, request);
  } else {
    Writer request(framing_, outbox_);
    exchange_.write_request(requests_, request);
  }
  const std::size_t bytes = outbox_.size() - before;
  if (bytes > largest_frame_ && too_large_ == 0) too_large_ = bytes;
  return requests_++;
}

// A message without a number would be none over a lossy delivery, so there are no answers and no last words.

void RequestWriter::write_answer() {
  if (!owes_answer_ || !has_room()) return;
  owes_answer_ = false;
  Writer answer(framing_, outbox_);
  exchange_.write_answer(answer);
}

// Bytes that wait may be the rest of a request, and a server that breaks the protocol may never read them.
void RequestWriter::write_refusal() {
  owes_answer_ = false;
  if (numbered_ || said_last_ || !outbox_.empty()) return;
  Writer refusal(framing_, outbox_);
  exchange_.write_refusal(refusal);
  refuses_ = !outbox_.empty();
}

void RequestWriter::write_last() {
  if (numbered_ || said_last_) return;
  const std::size_t before = outbox_.size();
  Writer last(framing_, outbox_);
  exchange_.write_last(last);
  said_last_ = outbox_.size() > before;
}

std::string RequestWriter::complaint() const {
  return fmt::format("a request takes {} bytes with its boundary, and the protocol allows {}: it is not sent",
                     too_large_, largest_frame_);
}

void RequestWriter::withdraw() {
  const std::size_t unseen = outbox_.size();
  outbox_.consumed(unseen);
  outbox_.released(unseen);
}

}  // namespace joust
