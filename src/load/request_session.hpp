// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "joust/framing.hpp"
#include "joust/handler.hpp"
#include "joust/session.hpp"
#include "load/progress.hpp"
#include "load/request_writer.hpp"
#include "load/run.hpp"
#include "load/shown_messages.hpp"

namespace joust {

// One connection of a load: sends requests by the plan and verifies every reply. Progress has the phases and
// the records. If the protocol has a greeting, its answer makes the connection ready. A connection that ends
// with a reply hands its channel over, with the requests behind that reply. If the plan reconnects, a lost
// connection leaves its channel, with the remaining work.
class RequestSession final : public Session {
 public:
  // Makes a session, which is made message_wise() over a message transport. Takes the channel, unless it
  // throws.
  RequestSession(const Framing& framing, std::unique_ptr<Exchange> exchange, LoadRun& run, Channel& channel,
                 const Delivery& delivery);

  void on_open(Time now) override;
  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_peer_finished(Time now) override;
  void on_deadline(Time now) override;
  void on_drain(Time now) override;
  // With its work done, a connection cannot fail: a server may end it by a reset.
  void on_failure(const Failure& failure, Time now) override {
    if (!finished()) fail(failure, now);
  }

  // Returns no output of a failed session but its last words, or why it refuses the server: a server that
  // does not read would keep its connection open.
  std::size_t output(std::span<Segment> into) const override {
    const bool shows = failed_ ? writer_.refuses() || writer_.said_last() : shows_requests();
    return shows ? writer_.outbox().segments(into) : 0;
  }
  Want want() const override { return failed_ ? Want::nothing : Want::bytes; }
  std::optional<Time> deadline() const override;
  bool finished() const override { return progress_.finished(); }
  // Returns true after the last reply: the connection is not needed any more, whatever the server does with
  // it.
  bool gives_up() const override { return ended_ && !writer_.said_last(); }
  Answers answers() const override { return answers_of(*this); }
  void consumed(std::size_t n) override { writer_.outbox().consumed(n); }
  void released(std::size_t n) override { writer_.outbox().released(n); }

 private:
  using Phase = Progress::Phase;

  // The greeting over a lossy delivery, which is repeated until an answer comes.
  struct GreetingTimes {
    Time next{}, until{};
  };

  const LoadPlan& plan() const { return run_.plan(); }
  const Outstanding& outstanding() const { return progress_.outstanding(); }
  bool shows_requests() const { return !greeted_ || progress_.shows_requests(); }
  bool all_received() const { return outstanding().empty() && exchange_->complete(); }
  // Returns true if only the greeting's answer or messages of other members are outstanding.
  bool waits_for_others() const { return !greeted_ || (last_request_ && outstanding().empty()); }
  bool wants_to_send() const {
    return greeted_ && !ended_ && progress_.wants_to_send() && writer_.may_write();
  }
  bool ends_by_plan() const { return replies_ == writer_.most(); }
  bool may_send(Time now) const;
  bool is_overdue(Time now) const;

  // Passes through every phase that `now` has reached, in order, so that requests in flight at a phase's end
  // are counted there even if nothing has been received since.
  void advance(Time now) {
    if (!progress_.in_window(now)) next_phases(now);
  }
  void next_phases(Time now);
  void ready(Time now);
  void greet(Time now);
  void greet_again(Time now);
  void fill(Time now, std::optional<Time> slots_free = std::nullopt);
  void check(Bytes message, Time now);
  void check_numbered(Bytes message, Time now);
  void count_stray(std::uint64_t number, Bytes came, Time now);
  void answered(std::size_t place, Time now);
  void refuse_reply(std::uint64_t request, Bytes came, Time now);
  void refuse(WrongReply wrong, Time now);
  void on_lossy_deadline(Time now);
  void last_request(Time now);
  void conclude(Time now);
  void fail(const Failure& failure, Time now);
  void leave_channel(const Failure& failure, Time now);
  void hand_over(Time now);
  void go_on(Time now);

  // The members that every message uses come first, close together: with thousands of connections they are
  // fetched from main memory each time.
  bool greets_ = false;        // the protocol has a greeting, and messages that are not replies
  bool greeted_ = false;       // the greeting was answered
  bool last_request_ = false;  // the exchange knows that no more requests follow
  bool held_back_ = false;     // requests are held back for want of room
  bool failed_ = false;
  bool ended_ = false;  // the last reply of this connection has come
  const bool lossy_;
  const std::size_t unsent_frame_bytes_;  // bytes of each message, over a message transport
  LoadRun& run_;
  const std::unique_ptr<Exchange> exchange_;
  Time last_message_{};
  std::uint64_t replies_ = 0;  // verified so far
  Deframer deframer_;
  RequestWriter writer_;
  Progress progress_;
  std::optional<GreetingTimes> greeting_;
  Channel channel_;
};

}  // namespace joust
