// SPDX-License-Identifier: MIT
#include "load/request_writer.hpp"

#include <fmt/format.h>

#include "session/numbered.hpp"

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

void RequestWriter::write_last() {
  if (numbered_ || said_last_) return;  // a message without a number would be none
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
