// SPDX-License-Identifier: MIT
#include "load/request_session.hpp"

#include <utility>

// The handling of lost connections: such a connection leaves its channel to the next one, which joins the
// load.
namespace joust {

// Returns whether the connection leaves its channel. Another connection would not correct a wrong reply. In
// the last phase no work is left.
bool RequestSession::leaves_channel(const Failure& failure) const {
  if (!plan_.reconnects() || failure.stage == Stage::verify || finished_ || phase_ == Phase::finishing)
    return false;
  const bool all_sent = phase_ == Phase::measuring && plan_.messages && in_window_ >= *plan_.messages;
  return !all_sent;
}

// Leaves the channel. Requests written in advance were not sent: the next connection writes its own.
void RequestSession::leave_channel(const Failure& failure, Time now) {
  failed_ = finished_ = true;
  if (greeted_) exchange_->on_failure();
  if (greeted_ && records(now)) run_.recorder().failed(in_flight_of_window());
  if (plan_.turns && greeted_) {
    lose_schedule();
    run_.gone(turn_, phase_ == Phase::waiting, now);
  } else if (plan_.has_schedule()) {
    channel_.schedule.emplace(schedule_);
  }
  channel_.in_window = in_advance() || plan_.turns ? 0 : in_window_;
  channel_.answered = answered_;
  channel_.replied |= replies_ > 0;
  channel_.ever_replied |= channel_.replied;
  forget_requests();
  phase_ = Phase::finishing;
  run_.lost(std::move(channel_), failure, now);
}

void RequestSession::reconnect(Time now) {
  answered_ = channel_.answered;
  turn_ = run_.reconnected(channel_, now);
  if (!plan_.turns && run_.start()) join(now);
  fill(now);
}

// Joins a running load: the connection takes part in the phase that the load has reached.
void RequestSession::join(Time now) {
  phase_ = Phase::warming;
  in_window_ = channel_.in_window;
  closes_ = run_.closes().value_or(Time::max());
  slot_free_ = now;
  go_on_with_schedule(now);
  if (plan_.messages && run_.opens())
    enter_window(*run_.opens());
  else if (plan_.messages && channel_.settled)
    phase_ = Phase::ready;
  conclude(now);
}

// Continues the schedule. In an open loop the requests that were due meanwhile are sent now, and are late by
// that time. In a closed loop none was due.
void RequestSession::go_on_with_schedule(Time now) {
  if (!plan_.has_schedule()) return;
  if (!schedule_.has_begun())
    schedule_.begin(plan_.open_loop() ? *run_.start() : now);
  else if (!plan_.open_loop())
    schedule_.move_back(now);
}

}  // namespace joust
