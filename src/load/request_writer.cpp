// SPDX-License-Identifier: MIT
#include "load/request_writer.hpp"

#include "session/numbered.hpp"

namespace joust {

bool RequestWriter::write_greeting() {
  const auto number = number_bytes(kGreetingNumber);
  Writer greeting(framing_, outbox_, numbered_ ? Bytes(number) : Bytes());
  return exchange_.write_greeting(greeting);
}

std::uint64_t RequestWriter::write_request() {
  if (numbered_) {
    const auto number = number_bytes(requests_);
    Writer request(framing_, outbox_, number);
    exchange_.write_request(requests_, request);
  } else {
    Writer request(framing_, outbox_);
    exchange_.write_request(requests_, request);
  }
  return requests_++;
}

void RequestWriter::withdraw() {
  const std::size_t unseen = outbox_.size();
  outbox_.consumed(unseen);
  outbox_.released(unseen);
}

}  // namespace joust
