// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "joust/framing.hpp"
#include "joust/handler.hpp"
#include "joust/outbox.hpp"
#include "joust/session.hpp"
#include "load/outstanding.hpp"
#include "load/progress.hpp"
#include "load/run.hpp"
#include "load/schedule.hpp"
#include "load/wrong_reply.hpp"

namespace joust {

// One connection of a load: sends requests by the plan, verifies every reply, and records those of the timed
// window. If the protocol has a greeting, its answer makes the connection ready. A connection that ends with
// a reply hands its channel over, with the requests behind that reply. If the plan reconnects, a lost
// connection leaves its channel, with the remaining work.
class RequestSession : public Session, private Progress {
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
  void on_failure(const Failure& failure, Time now) override { fail(failure, now); }

  // Returns no output of a failed session: a server that does not read would keep its connection open.
  std::size_t output(std::span<Segment> into) const override {
    return failed_ || shut() ? 0 : outbox_.segments(into);
  }
  Want want() const override { return failed_ ? Want::nothing : Want::bytes; }
  std::optional<Time> deadline() const override;
  bool finished() const override { return finished_; }
  // Returns true after the last reply: the connection is not needed any more, whatever the server does with
  // it.
  bool gives_up() const override { return ended_; }
  void consumed(std::size_t n) override { outbox_.consumed(n); }
  void released(std::size_t n) override { outbox_.released(n); }

 private:
  bool shut() const;
  bool all_received() const { return intended_.empty() && exchange_->complete(); }
  bool waits_for_others() const;
  bool in_advance() const { return phase_ == Phase::waiting || phase_ == Phase::ready; }
  void ready(Time now);
  bool in_window(Time now) const { return phase_ == Phase::measuring && now < closes_; }
  bool records(Time now) const;
  bool is_of_window(Time intended) const;
  bool has_more() const;
  // Returns how many requests the window, or a counted turn, has.
  std::optional<std::uint64_t> most_requests() const;
  bool owes() const;
  // Returns whether another request may be written. Requests are written as they can be sent: waiting output
  // takes memory, and time before the next requests.
  bool has_room() const { return outbox_.size() < kMostUnsent; }
  bool wants_to_send() const { return !ended_ && intended_.size() < plan_.depth && (has_more() || owes()); }
  bool may_send(Time now) const;
  void advance(Time now) {
    if (!in_window(now)) next_phases(now);
  }
  void next_phases(Time now);
  bool begins() const { return plan_.turns ? run_.turn() != turn_ : run_.start().has_value(); }
  void start(Time now);
  void rest(Time now);
  Time window_opens() const;
  Time border() const;
  void begin_schedule(Time now);
  void enter_window(Time opens);
  void fill(Time now);
  void send_due(Time now, Writer& request);
  void check(Bytes message, Time now);
  void refuse_reply(std::uint64_t request, Bytes came, Time now);
  void refuse(WrongReply wrong, Time now);
  void answered(std::size_t place, Time now);
  void free_slot(Time now);
  void forget_requests();
  void count_in_flight(Time now);
  void record(Time intended, Time sent, Time now);
  void last_request(Time now);
  void conclude(Time now);
  void leave_window(Time now);
  void cut_off(Time now);
  void lose_schedule();
  std::uint64_t due_in_window() const;
  std::size_t in_flight_of_window() const;
  Time oldest_sent() const { return plan_.open_loop() ? sent_.oldest() : intended_.oldest(); }
  void fail(const Failure& failure, Time now);
  // request_loss.cpp
  bool greet(Time now);
  bool write_greeting(Bytes head);
  void greet_again(Time now);
  void write_numbered(Writer& request);
  void check_numbered(Bytes message, Time now);
  bool is_request(std::uint64_t number) const { return number < requests_; }
  void count_stray(std::uint64_t number);
  void on_lossy_deadline(Time now);
  void lose_oldest(Time now);
  // request_reconnect.cpp
  bool leaves_channel(const Failure& failure) const;
  void leave_channel(const Failure& failure, Time now);
  void reconnect(Time now);
  void join(Time now);
  void go_on_with_schedule(Time now);
  // request_handover.cpp
  void conclude_last(Time now);
  bool awaits_nothing() const;
  void hand_over(Time now);
  void take_over(Handover& handover);
  void go_on(Time now);

  static constexpr std::size_t kMostUnsent = 256 << 10;  // bytes, beside the request that exceeds them

  // The additional state of a connection over a lossy delivery.
  struct Lossy {
    explicit Lossy(bool carries_numbers) : own_numbers(carries_numbers) {}

    const bool own_numbers;  // the exchange's messages carry numbers
    bool in_flight_counted = false;
    Outstanding outstanding{};
    Time greet_next{}, greet_until{};
  };

  // The members that every message uses come first, close together, after those of Progress: with thousands
  // of connections they are fetched from main memory each time.
  bool greets_ = false;        // the protocol has a greeting, and messages that are not replies
  bool greeted_ = false;       // the greeting was answered
  bool last_request_ = false;  // the exchange knows that no more requests follow
  bool held_back_ = false;     // requests are held back for want of room
  bool finished_ = false;
  bool failed_ = false;
  bool ended_ = false;  // the server ends the connection with the last reply
  const std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Lossy> lossy_;  // null unless delivery is lossy
  LoadRun& run_;
  const LoadPlan& plan_;
  Time last_message_{};
  std::uint64_t requests_ = 0;  // written so far
  std::uint64_t replies_ = 0;   // verified so far
  const Framing framing_;
  Deframer deframer_;
  Outbox outbox_;
  const std::size_t unsent_frame_bytes_;  // bytes of each message, over a message transport
  std::uint64_t unseen_bytes_ = 0;        // bytes of requests written in advance
  Schedule schedule_;                     // with an interval or a rate
  InFlight sent_;                         // open loop: send time of each outstanding request
  Time slot_free_{};                      // open loop: time since when at least one slot has been free
  Channel channel_;
};

}  // namespace joust
