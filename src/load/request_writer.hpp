// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "joust/framing.hpp"
#include "joust/handler.hpp"
#include "joust/outbox.hpp"
#include "joust/service.hpp"

namespace joust {

// Writes the greeting and the requests of one connection into its outbox. Over a lossy delivery a number
// travels before each of them, unless the exchange's messages carry numbers.
class RequestWriter {
 public:
  // Requests are written as they can be sent: waiting output takes memory, and time before the next requests.
  static constexpr std::size_t kMostUnsent = 256 << 10;  // bytes, beside the request that exceeds them

  // Framing and exchange outlive the writer.
  // Writes at most `most` requests.
  RequestWriter(const Framing& framing, Exchange& exchange, const Delivery& delivery, std::uint64_t most)
      : framing_(framing),
        exchange_(exchange),
        most_(most),
        numbered_(delivery.lossy && !exchange.carries_numbers()),
        largest_frame_(delivery.by_message() ? SIZE_MAX : largest_frame(framing)) {}

  bool has_room() const { return outbox_.size() < kMostUnsent; }
  std::uint64_t most() const { return most_; }
  bool may_write() const { return requests_ < most_; }
  // Returns false if the protocol has no greeting.
  bool write_greeting();
  void write_more_greeting();  // only over a stream
  // Writes the next request, and returns its number.
  std::uint64_t write_request();
  // A message has come that wants an answer.
  void owe_answer() { owes_answer_ = !numbered_; }
  // Writes the answers that are owed, where there is room.
  void write_answer();
  // Writes why the server is refused, if the exchange has words for it and nothing else waits to be sent.
  void write_refusal();
  bool refuses() const { return refuses_; }  // the output is such words, and no more
  void write_last();                         // the last words, once
  // Returns whether there were last words: what the server says after them answers no request.
  bool said_last() const { return said_last_; }
  // Returns whether a request is longer than the framing allows: the server would refuse it.
  bool wrote_too_much() const { return too_large_ != 0; }
  std::string complaint() const;  // describes the first of these requests
  // Removes output that the engine has not seen.
  void withdraw();

  std::uint64_t requests() const { return requests_; }  // written so far
  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }

 private:
  const Framing& framing_;
  Exchange& exchange_;
  const std::uint64_t most_;
  const bool numbered_;
  const std::size_t largest_frame_;  // bytes, over a stream
  std::size_t too_large_ = 0;        // bytes of the first request that is larger, with its boundary
  std::uint64_t requests_ = 0;
  bool owes_answer_ = false;
  bool refuses_ = false;
  bool said_last_ = false;
  Outbox outbox_;
};

}  // namespace joust
