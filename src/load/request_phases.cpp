// SPDX-License-Identifier: MIT
#include "load/request_session.hpp"

#include <algorithm>
#include <utility>

// The phases of a connection: which requests belong to the warm-up, to the window, or only to the end.
// request_session.cpp has the messages.
namespace joust {

// Passes through every phase that `now` has reached, in order, so that requests in flight at a phase's end
// are counted there even if nothing has been received since.
void RequestSession::next_phases(Time now) {
  if (phase_ == Phase::waiting && begins()) start(*run_.start());
  if (phase_ == Phase::warming && (plan_.counted_turns ? !has_more() : now >= window_opens())) {
    if (plan_.messages || (plan_.turns && !run_.turn_is_recorded()))
      phase_ = Phase::settling;
    else
      enter_window(*run_.opens());
  }
  if (phase_ == Phase::settling && intended_.empty() && plan_.messages) {
    phase_ = Phase::ready;
    schedule_.restart();
    fill(now);
    channel_.settled = true;
    run_.settled(now);
  }
  if (phase_ == Phase::ready && run_.opens()) enter_window(*run_.opens());
  if (phase_ == Phase::measuring && !in_window(now)) leave_window(now);
  if (phase_ == Phase::settling && plan_.turns && !owes()) {
    last_request(now);
    if (all_received()) rest(now);
  }
}

// Ends the turn for this connection. The first requests of the next turn are written in advance.
void RequestSession::rest(Time now) {
  phase_ = Phase::waiting;
  in_window_ = 0;
  schedule_.pause(closes_);
  fill(now);
  run_.rested(now);
}

Time RequestSession::window_opens() const {
  return plan_.messages ? *run_.start() + plan_.warmup : *run_.opens();
}

// Starts the load or a turn. The requests written in advance are sent, on all connections at the same
// instant.
void RequestSession::start(Time now) {
  turn_ = run_.turn();
  left_window_ = cut_off_ = last_request_ = false;
  const bool at_once =
      plan_.turns ? plan_.counted_turns && run_.turn_is_recorded() : plan_.warmup == Duration{};
  if (at_once) return enter_window(now);
  unseen_bytes_ = 0;  // they belong to the warm-up
  begin_schedule(now);
  closes_ = run_.closes().value_or(Time::max());
  phase_ = Phase::warming;
}

// Begins the schedule. The requests that were written in advance are sent now.
void RequestSession::begin_schedule(Time now) {
  intended_.set_all(now);
  sent_.set_all(now);
  if (!plan_.has_schedule()) return;
  schedule_.begin(now);
  if (!intended_.empty()) schedule_.advance();
}

// Opens the window, with requests written in advance, or in flight from the warm-up.
void RequestSession::enter_window(Time opens) {
  const bool written_in_advance = phase_ != Phase::warming;
  if (written_in_advance) {
    begin_schedule(opens);
    run_.recorder().bytes_sent(unseen_bytes_);
    unseen_bytes_ = 0;
  }
  if (!plan_.open_loop())
    run_.recorder().sent(intended_.size());
  else if (!channel_.entered_window)
    run_.recorder().behind_at_opening(schedule_.due_before(opens));
  channel_.entered_window = !plan_.turns;
  phase_ = Phase::measuring;
  opens_ = opens - run_.windows_before();  // earlier windows come before on the time line
  if (plan_.messages) return;
  closes_ = run_.closes().value_or(Time::max());
  if (!plan_.turns) run_.entered_window();
}

// Returns when advance() has to be called even if nothing is received, or Time::max().
Time RequestSession::border() const {
  if (phase_ == Phase::warming && !plan_.counted_turns) return window_opens();
  return phase_ == Phase::measuring ? closes_ : Time::max();
}

void RequestSession::leave_window(Time now) {
  phase_ = plan_.turns ? Phase::settling : Phase::finishing;
  if (plan_.open_loop() && !plan_.messages && !left_window_)
    run_.recorder().behind_at_end(schedule_.due_before(closes_));
  if (std::exchange(left_window_, true) || plan_.turns) return;
  if (plan_.open_loop()) return;  // its requests are still to be answered
  if (!intended_.empty()) {
    count_in_flight(std::min(run_.closes().value_or(now), now));
    // By a schedule, the connection may have asked only just before.
    if (replies_ == 0 && !channel_.ever_replied && !plan_.has_schedule()) run_.recorder().never_answered();
  }
  run_.measured(now);
}

void RequestSession::count_in_flight(Time now) {
  run_.recorder().in_flight(in_flight_of_window(), now - intended_.oldest());
  if (lossy_) lossy_->in_flight_counted = true;
}

// Ends the wait for the window's requests, answered or not.
void RequestSession::cut_off(Time now) {
  if (records(now) && !intended_.empty()) count_in_flight(now);
  if (owes()) run_.recorder().never_sent(due_in_window());
  cut_off_ = true;
}

// Counts the requests of the window that this connection will not send any more, because it has failed.
void RequestSession::lose_schedule() {
  if (!plan_.open_loop() || plan_.messages) return;
  Recorder& recorder = run_.recorder();
  if (owes()) return recorder.never_sent(due_in_window());
  if (phase_ != Phase::warming && phase_ != Phase::measuring) return;
  recorder.never_sent(due_in_window());
  recorder.behind_at_end(phase_ == Phase::warming ? due_in_window() : schedule_.due_before(closes_));
}

// Returns how many requests of the schedule, from the next one on, belong to the window.
std::uint64_t RequestSession::due_in_window() const {
  return schedule_.due_before(closes_) - schedule_.due_before(*run_.opens());
}

std::size_t RequestSession::in_flight_of_window() const {
  return plan_.open_loop() ? intended_.since(*run_.opens()) : intended_.size();
}

// Returns whether requests of the window are still to be sent. In an open loop the requests that were due in
// the window are sent even if it is over, while the server is too slow or stalls: each of them counts. If the
// server stays too slow, the wait ends.
bool RequestSession::owes() const {
  return plan_.open_loop() && left_window_ && !cut_off_ && !finished_ && !plan_.messages &&
         schedule_.next() < closes_;
}

// Returns whether replies are recorded. In a turn no request is sent after the window's end, but the replies
// to requests in flight still count: otherwise a server that stalls at that time would lose neither time nor
// latency.
bool RequestSession::records(Time now) const {
  if (in_window(now)) return true;
  if (!left_window_ || cut_off_) return false;
  return plan_.turns ? phase_ == Phase::settling : plan_.open_loop() && phase_ == Phase::finishing;
}

// Returns whether a request counts in the window. In an open loop each request that was due in the window
// counts, and no other: one that was due earlier and is answered in the window would bring the past into it.
bool RequestSession::is_of_window(Time intended) const {
  return !plan_.open_loop() || intended >= *run_.opens();
}

// Finishes the connection after an input if no work is left.
void RequestSession::conclude(Time now) {
  advance(now);
  const auto most = most_requests();
  const bool all_sent = phase_ == Phase::measuring && most && in_window_ >= *most;
  if (owes() && now >= closes_ + *plan_.request_timeout) cut_off(now);
  if (all_sent || (phase_ == Phase::finishing && !owes())) last_request(now);
  if (finished_ || !all_received()) return;
  if (all_sent) {
    leave_window(now);
    advance(now);
  }
  if (phase_ != Phase::finishing || owes()) return;
  finished_ = true;
  if (plan_.open_loop() && !plan_.turns) run_.measured(now);
}

void RequestSession::last_request(Time now) {
  if (!greeted_ || std::exchange(last_request_, true)) return;
  last_message_ = now;  // from now on the connection waits for messages of other members
  exchange_->on_last_request();
}

}  // namespace joust
