// SPDX-License-Identifier: MIT
#include "session/handler_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "joust/time.hpp"
#include "session/framing.hpp"
#include "session/message_wise.hpp"

namespace joust {

bool LeastRate::missed(Time now) {
  if (now < ends_ || ends_ == kPaused) return false;
  ends_ = now + rule_->window;
  const double seconds = std::chrono::duration<double>(rule_->window).count();
  return static_cast<double>(std::exchange(moved_, 0)) < static_cast<double>(rule_->least) * seconds;
}

std::string LeastRate::complaint() const {
  return fmt::format("slower than {}/s for {}", format_bytes(static_cast<double>(rule_->least)),
                     format_duration(rule_->window));
}

namespace {

// The replies at the end of an outbox that are not due yet, in order: no reply becomes due before an earlier
// one. It keeps sizes and times, not the bytes. In steady state it allocates nothing.
class Later {
 public:
  bool empty() const { return first_ == replies_.size(); }
  std::size_t bytes() const { return bytes_; }                               // bytes of all these replies
  Time due() const { return empty() ? Time::max() : replies_[first_].due; }  // of the oldest

  void push(Time due, std::size_t bytes) {
    if (!empty()) due = std::max(due, replies_.back().due);
    replies_.push_back({due, bytes});
    bytes_ += bytes;
  }

  // Removes the replies that are due: they may be sent.
  void release(Time now) {
    for (; !empty() && replies_[first_].due <= now; ++first_) bytes_ -= replies_[first_].bytes;
    if (2 * first_ < replies_.size()) return;
    replies_.erase(replies_.begin(), replies_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

 private:
  struct Reply {
    Time due;
    std::size_t bytes;
  };

  std::vector<Reply> replies_;
  std::size_t first_ = 0;  // the oldest reply that is not due
  std::size_t bytes_ = 0;
};

// The unsent bytes of replies at which no further requests are read. A single reply may be larger.
constexpr std::size_t kOutboxLimit = 256 << 10;

// The longest work on messages that came together, before other peers and a stop have their turn. Thousands
// of messages fit into one read.
constexpr Duration kLongestWork = std::chrono::milliseconds(10);

class HandlerSession final : public Session {
 public:
  HandlerSession(const Framing& framing, std::unique_ptr<Handler> handler, const RateRules& rates,
                 const Delivery& delivery, bool own_numbers)
      : handler_(std::move(handler)),
        by_message_(delivery.by_message()),
        numbered_(delivery.lossy && !own_numbers),
        deframer_(framing),
        incoming_(rates.incoming),
        outgoing_(rates.outgoing) {}

  std::size_t on_bytes(Bytes chunk, Time now) override {
    Writer replies(deframer_.framing(), outbox_);
    std::size_t taken = 0;
    Duration spent{};
    while (taken < chunk.size() && want() == Want::bytes) {
      const Deframer::Step step = deframer_.next(chunk.subspan(taken));
      taken += step.taken;
      if (step.status == Deframer::Status::malformed) {
        broken_ = true;
        complaint_ = deframer_.complaint();
      }
      if (step.status != Deframer::Status::message) continue;
      hear(step.message, replies, now);
      spent += handler_->spent();
      // Over a message transport the next message may have come too, and is passed in a call of its own.
      if (spent >= kLongestWork && (by_message_ || taken < chunk.size())) rests_until_ = now + spent;
    }
    is_behind_ = rests_until_ && taken < chunk.size();
    say_last(now);
    incoming_.moved(taken);
    watch_rates(now);
    return taken;
  }

  // Detects slow peers: one that sends a message or reads a reply byte by byte would hold its connection for
  // ever.
  void on_deadline(Time now) override {
    if (later_) later_->release(now);
    rests_until_.reset();
    if (incoming_.missed(now)) {
      broken_ = true;
      complaint_ = "a message comes " + incoming_.complaint();
    }
    if (outgoing_.missed(now)) {
      gives_up_ = true;
      complaint_ = "a reply is read " + outgoing_.complaint();
    }
    watch_rates(now);
  }
  std::optional<Time> deadline() const override {
    return due() == Time::max() ? std::nullopt : std::optional(due());
  }

  void on_peer_finished(Time /*now*/) override { peer_finished_ = true; }
  void on_drain(Time now) override {
    if (drain_ == Drain::no) drain_ = Drain::begun;
    say_last(now);
    watch_rates(now);
  }

  std::size_t output(std::span<Segment> into) const override {
    const std::size_t count = outbox_.segments(into);
    return later_ ? first_bytes(into.first(count), due_bytes()) : count;
  }
  Want want() const override {
    return broken_ || rests_until_ || outbox_.size() >= kOutboxLimit || drained() ? Want::nothing
                                                                                  : Want::bytes;
  }
  bool finished() const override { return all_due() && (broken_ || peer_finished_ || drained()); }
  std::string_view complaint() const override { return complaint_; }
  std::uint64_t memory() const override { return outbox_.size() + deframer_.memory(); }
  bool gives_up() const override { return gives_up_; }
  Answers answers() const override {
    return {.want = want(),
            .has_output = due_bytes() > 0,
            .finished = finished(),
            .gives_up = gives_up_,
            .memory = memory(),
            .deadline = due()};
  }
  void consumed(std::size_t n) override {
    outbox_.consumed(n);
    outgoing_.moved(n);
    if (due_bytes() == 0) outgoing_.reset();
  }
  void released(std::size_t n) override { outbox_.released(n); }

 private:
  enum class Drain : std::uint8_t { no, begun, said_last };

  Time due() const {
    Time due = std::min(incoming_.window_ends(), outgoing_.window_ends());
    if (rests_until_) due = std::min(due, *rests_until_);
    if (later_) due = std::min(due, later_->due());
    return due;
  }

  void hear(Bytes message, Writer& replies, Time now) {
    const std::size_t before = outbox_.size();
    if (numbered_ ? !answer_numbered(message) : !handler_->on_message(message, replies)) {
      broken_ = true;
      if (complaint_.empty()) complaint_ = handler_->complaint();
    }
    wrote(outbox_.size() - before, now, handler_->delay());
  }

  // Keeps the newest replies until they are due, and none is due before those that wait.
  void wrote(std::size_t bytes, Time now, Duration delay) {
    if (delay <= Duration::zero() && all_due()) return;
    if (!later_) later_ = std::make_unique<Later>();
    later_->push(now + delay, bytes);
  }

  // Writes the last words once, when the drain is complete.
  void say_last(Time now) {
    if (drain_ != Drain::begun || !drained() || broken_ || peer_finished_ || numbered_) return;
    drain_ = Drain::said_last;
    const std::size_t before = outbox_.size();
    Writer last(deframer_.framing(), outbox_);
    handler_->write_last(last);
    wrote(outbox_.size() - before, now, {});
  }

  bool answer_numbered(Bytes message) {
    const auto request = without_number(message);
    if (!request) {
      complaint_ = "a request has no number";
      return false;
    }
    Writer replies(deframer_.framing(), outbox_, message.first(kNumberBytes));
    return handler_->on_message(request->message, replies);
  }

  bool all_due() const { return !later_ || later_->empty(); }
  std::size_t due_bytes() const { return outbox_.size() - (later_ ? later_->bytes() : 0); }

  // Returns whether the drain is complete. A request that has begun to arrive before the drain is still
  // answered, and so are waiting requests.
  bool drained() const { return drain_ != Drain::no && !deframer_.in_message() && !is_behind_; }

  void watch_rates(Time now) {
    const bool in_message = deframer_.in_message() && !broken_ && !peer_finished_;
    incoming_.expect(in_message, want() == Want::bytes, now);
    outgoing_.expect(due_bytes() > 0, true, now);
  }

  // The members that every message uses come first, close together: see StreamConnection::prefetch_session().
  const std::unique_ptr<Handler> handler_;
  const bool by_message_;
  const bool numbered_;     // requests are numbered, and so are replies
  bool is_behind_ = false;  // the last input was not taken whole, because of a rest
  bool broken_ = false;
  bool gives_up_ = false;
  bool peer_finished_ = false;
  Drain drain_ = Drain::no;
  std::optional<Time> rests_until_;  // when the work so far ends, so the deadline is due at once
  std::unique_ptr<Later> later_;  // the replies at the end of outbox_ that are not due yet; null before any
  Deframer deframer_;
  LeastRate incoming_;  // rate of an incomplete message
  LeastRate outgoing_;  // rate of unread replies
  Outbox outbox_;
  std::string complaint_;
};

}  // namespace

std::unique_ptr<Session> HandlerService::open(const ConnectionInfo& info) {
  const Delivery& delivery = info.delivery;
  const auto session_with = [&](const Framing& framing) {
    return std::make_unique<HandlerSession>(framing, make_(), rates_, delivery, own_numbers_);
  };
  if (!delivery.by_message()) return session_with(framing_);
  return message_wise(session_with(Length4{delivery.largest_message}), delivery.largest_message);
}

}  // namespace joust
