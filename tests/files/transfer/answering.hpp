// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>

#include "files/transfer/transfer_fixture.hpp"

namespace joust::transfer::test {

// A server that answers each message as the test says, or not at all. `stored` gets the check of its request.
class Answering : public Session {
 public:
  using Answer = std::function<std::optional<file::Body>(const file::Message&)>;
  explicit Answering(Answer answer) : answer_(std::move(answer)) {}

  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    for (Bytes rest = chunk; !rest.empty();) {
      const std::size_t skipped = std::min<std::uint64_t>(data_, rest.size());
      data_ -= skipped;
      rest = rest.subspan(skipped);
      if (rest.empty()) break;
      const auto step = decoder_.next(rest);
      if (!step) {
        ADD_FAILURE() << step.error().refusal.text;
        break;
      }
      rest = rest.subspan(step->taken);
      if (step->message) take(*step->message);
    }
    return chunk.size();
  }
  void on_drain(Time /*now*/) override {}
  std::size_t output(std::span<Segment> into) const override {
    if (next_ == says_.size()) return 0;
    into[0].bytes = as_bytes(says_[next_]).subspan(said_);
    return 1;
  }
  bool finished() const override { return false; }
  void consumed(std::size_t n) override {
    said_ += n;
    if (said_ < says_[next_].size()) return;
    said_ = 0;
    ++next_;
  }
  void released(std::size_t /*n*/) override {}

 private:
  void take(const file::Message& message) {
    if (const auto* data = std::get_if<file::Data>(&message.body)) data_ = data->size;
    const bool is_request =
        !std::holds_alternative<file::Data>(message.body) && !std::holds_alternative<file::End>(message.body);
    if (is_request) check_ = message.check;
    auto body = answer_(message);
    if (!body) return;
    if (auto* stored = std::get_if<file::Stored>(&*body)) stored->request_check ^= check_;
    says_.push_back(file::test::wire({message.request, *body}));
  }

  const Answer answer_;
  file::Decoder decoder_;
  std::uint64_t data_ = 0;        // bytes that follow
  std::uint64_t check_ = 0;       // of the latest request
  std::deque<std::string> says_;  // all of it
  std::size_t next_ = 0, said_ = 0;
};

class TransferAnswers : public Transferring {
 protected:
  // Until the transfer is over, at most so long in the sessions' time. That goes on from call to call.
  void run(Transfer& transfer, Answering::Answer answer, Duration most) {
    Pair pair(transfer.open({}), std::make_unique<Answering>(std::move(answer)), Pair::whole, now_);
    for (const Time end = pair.now() + most; pair.now() < end && !transfer.over();) {
      pair.settle();
      pair.left().on_published(pair.now());
      pair.pass(std::chrono::milliseconds(100));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // a thread makes the digest
    }
    now_ = pair.now();
  }

 private:
  Time now_ = Pair::kBegin;
};

}  // namespace joust::transfer::test
