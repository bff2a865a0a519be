// SPDX-License-Identifier: MIT
#include "load/request_session.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace joust {

void RequestSession::on_open(Time now) {
  Writer greeting(framing_, outbox_);
  greets_ = exchange_->write_greeting(greeting);
  last_heard_ = now;
  if (!greets_) ready(now);
}

void RequestSession::ready(Time now) {
  greeted_ = true;
  next_send_ = now;
  fill(now);  // before the count, because the start may follow at once
  run_.opened(now);
}

// True while written requests must not be shown yet.
bool RequestSession::shut() const {
  if (!greeted_) return false;
  if (phase_ == Phase::waiting) return !begins();
  if (phase_ == Phase::ready) return !run_.opens();
  return false;
}

// True if there is another request for the current phase, regardless of slots and time.
bool RequestSession::has_more() const {
  if (!greeted_ || finished_ || phase_ == Phase::settling || phase_ == Phase::finishing) return false;
  if (plan_.turns) return true;
  const bool for_window = phase_ == Phase::waiting ? plan_.warmup == Duration{} : phase_ != Phase::warming;
  return !plan_.messages || !for_window || in_window_ < *plan_.messages;
}

bool RequestSession::may_send(Time now) const {
  if (intended_.size() >= plan_.depth || !has_more()) return false;
  return plan_.interval == Duration{} || now >= next_send_;
}

// Passes through every phase that `now` has reached, in order, so that requests in flight at a phase's end
// are counted there even if nothing has been received since.
void RequestSession::next_phases(Time now) {
  if (phase_ == Phase::waiting && begins()) start(*run_.start());
  if (phase_ == Phase::warming && now >= window_opens()) {
    if (plan_.messages || (plan_.turns && *run_.opens() == *run_.closes()))
      phase_ = Phase::settling;
    else
      enter_window(*run_.opens());
  }
  if (phase_ == Phase::settling && intended_.empty() && plan_.messages) {
    phase_ = Phase::ready;
    next_send_ = now;
    fill(now);
    run_.settled(now);
  }
  if (phase_ == Phase::ready && run_.opens()) enter_window(*run_.opens());
  if (phase_ == Phase::measuring && !in_window(now)) leave_window(now);
  if (phase_ == Phase::settling && intended_.empty() && plan_.turns) rest(now);
}

// The turn is over for this connection. The first requests of the next one are written in advance.
void RequestSession::rest(Time now) {
  phase_ = Phase::waiting;
  next_send_ = now;
  fill(now);
  run_.rested(now);
}

// In a turn no request is sent after the window's end, but the replies to those in flight still count: a
// server that stalls then would otherwise lose neither time nor latency.
bool RequestSession::records(Time now) const {
  return in_window(now) || (plan_.turns && phase_ == Phase::settling && left_window_);
}

Time RequestSession::window_opens() const {
  return plan_.messages ? *run_.start() + plan_.warmup : *run_.opens();
}

// The requests written in advance are sent, on all connections at the same instant.
void RequestSession::start(Time now) {
  turn_ = run_.turn();
  left_window_ = false;
  if (plan_.warmup == Duration{} && !plan_.turns) return enter_window(now);
  unseen_bytes_ = 0;  // they belong to the warm-up
  intended_.set_all(now);
  next_send_ = now + plan_.interval;
  phase_ = Phase::warming;
}

// The window opens with requests written in advance, or in flight from the warm-up.
void RequestSession::enter_window(Time opens) {
  const bool written_in_advance = phase_ != Phase::warming;
  if (written_in_advance) {
    intended_.set_all(opens);
    next_send_ = opens + plan_.interval;
    run_.recorder().bytes_sent(unseen_bytes_);
    unseen_bytes_ = 0;
  }
  run_.recorder().sent(intended_.size());
  phase_ = Phase::measuring;
  opens_ = opens - run_.windows_before();  // earlier windows come before on the time line
  if (plan_.messages) return;
  closes_ = *run_.closes();
  if (!plan_.turns) run_.entered_window();
}

// When advance() has to be called even if nothing is received, or Time::max().
Time RequestSession::border() const {
  if (phase_ == Phase::warming) return window_opens();
  return phase_ == Phase::measuring ? closes_ : Time::max();
}

// With an interval a request's intended time is its place in the schedule, however late the loop sends it.
// The delay counts as latency; otherwise a slow client would hide the latency that it causes.
void RequestSession::fill(Time now) {
  Writer request(framing_, outbox_);
  const std::size_t before = outbox_.size();
  std::uint64_t written = 0;
  while (may_send(now)) {
    exchange_->write_request(requests_++, request);
    intended_.push(plan_.interval == Duration{} ? now : next_send_);
    ++written;
    if (phase_ == Phase::measuring || phase_ == Phase::ready || plan_.warmup == Duration{}) ++in_window_;
    next_send_ += plan_.interval;
  }
  const std::uint64_t bytes = outbox_.size() - before;
  if (phase_ == Phase::waiting || phase_ == Phase::ready) unseen_bytes_ += bytes;
  if (!in_window(now)) return;
  run_.recorder().sent(written);
  run_.recorder().bytes_sent(bytes);
}

std::size_t RequestSession::on_bytes(Bytes chunk, Time now) {
  advance(now);
  const bool counts = records(now);
  last_heard_ = now;
  std::size_t taken = 0;
  while (taken < chunk.size() && !failed_) {
    if (intended_.empty() && !greets_) {
      fail({Stage::verify, 0, "there are bytes nobody asked for"}, now);
      break;
    }
    if (std::holds_alternative<Raw>(framing_)) deframer_.expect(exchange_->reply_size(replies_));
    const Deframer::Step step = deframer_.next(chunk.subspan(taken));
    taken += step.taken;
    if (step.status == Deframer::Status::malformed)
      fail({Stage::verify, 0, std::string(deframer_.complaint())}, now);
    if (step.status == Deframer::Status::message) check(step.message, now);
  }
  if (counts) run_.recorder().bytes_received(taken);  // bytes not taken are offered again
  fill(now);
  conclude(now);
  return failed_ ? chunk.size() : taken;
}

void RequestSession::check(Bytes message, Time now) {
  const Heard heard = exchange_->hear(replies_, message);
  const bool fits = heard == Heard::reply      ? !intended_.empty()
                    : heard == Heard::greeting ? greets_ && !greeted_
                                               : heard == Heard::other;
  if (!fits) return fail({Stage::verify, 0, std::string(exchange_->complaint())}, now);
  if (heard == Heard::reply) answered(now);
  if (heard == Heard::greeting) ready(now);
}

void RequestSession::answered(Time now) {
  ++replies_;
  const Duration latency = now - intended_.oldest();
  // All slots were in use: later sends are moved back, and not made up for by a burst.
  if (intended_.size() >= plan_.depth) next_send_ = std::max(next_send_, now);
  intended_.pop();
  const bool counts = records(now);
  if (plan_.turns) run_.recorder().replied(now, turn_, !counts);
  if (!counts) {
    if (plan_.turns) run_.recorder().beside();
    return;
  }
  run_.recorder().verified(latency, now - opens_);
  if (!std::exchange(answered_, true)) run_.recorder().answered();
}

void RequestSession::last_request(Time now) {
  if (!greeted_ || std::exchange(last_request_, true)) return;
  last_heard_ = now;  // from here on the connection waits for others
  exchange_->on_last_request();
}

// After every input: finishes the connection if no work is left.
void RequestSession::conclude(Time now) {
  advance(now);
  const bool all_sent = phase_ == Phase::measuring && plan_.messages && in_window_ >= *plan_.messages;
  if (all_sent || phase_ == Phase::finishing) last_request(now);
  if (finished_ || !all_heard()) return;
  if (all_sent) leave_window(now);
  if (phase_ == Phase::finishing) finished_ = true;
}

void RequestSession::leave_window(Time now) {
  phase_ = plan_.turns ? Phase::settling : Phase::finishing;
  if (std::exchange(left_window_, true) || plan_.turns) return;
  if (!intended_.empty()) {
    const Time closed = std::min(run_.closes().value_or(now), now);
    run_.recorder().in_flight(intended_.size(), closed - intended_.oldest());
  }
  run_.measured(now);
}

void RequestSession::fail(const Failure& failure, Time now) {
  if (failed_) return;
  advance(now);
  failed_ = finished_ = true;
  if (!greeted_) return run_.not_opened(failure, now);
  exchange_->on_failure();
  last_request(now);
  run_.failed(failure);
  if (records(now)) run_.recorder().failed(intended_.size());
  if (phase_ < Phase::ready && plan_.messages && plan_.warmup != Duration{}) run_.settled(now);
  if (!plan_.turns) {
    if (!std::exchange(left_window_, true)) run_.measured(now);
  } else if (phase_ != Phase::finishing) {
    run_.gone(turn_, phase_ == Phase::waiting, now);
  }
  intended_.clear();
  phase_ = Phase::finishing;
}

void RequestSession::on_peer_finished(Time now) {
  if (!finished_) fail({Stage::receive, 0, "the server closed the connection early"}, now);
}

void RequestSession::on_deadline(Time now) {
  advance(now);
  if (!intended_.empty() && !shut() && now >= intended_.oldest() + plan_.request_timeout)
    fail({Stage::timeout, 0, "no reply within the request timeout"}, now);
  else if (waits_for_others() && (!greeted_ || !all_heard()) && now >= last_heard_ + plan_.request_timeout)
    fail({Stage::timeout, 0, "nothing came within the request timeout, and not all is there"}, now);
  fill(now);
  conclude(now);
}

void RequestSession::on_drain(Time now) {
  advance(now);
  run_.stopped(now);
  if (!greeted_) return fail({Stage::receive, ECANCELED, "the greeting"}, now);
  if (shut() || phase_ == Phase::waiting) {
    // The requests written in advance have not been shown.
    const std::size_t unseen = outbox_.size();
    outbox_.consumed(unseen);
    outbox_.released(unseen);
    exchange_->on_withdrawn(intended_.size());
    intended_.clear();
  }
  if (phase_ == Phase::measuring) leave_window(now);
  if (records(now) && !intended_.empty())  // in the middle of a turn
    run_.recorder().in_flight(intended_.size(), now - intended_.oldest());
  phase_ = Phase::finishing;
  conclude(now);
}

// True if only the greeting's answer or messages of other members are outstanding.
bool RequestSession::waits_for_others() const {
  return !greeted_ || (last_request_ && intended_.empty());
}

std::optional<Time> RequestSession::deadline() const {
  if (finished_ || shut()) return std::nullopt;
  // Other members may have completed this connection: on_deadline() is then called at once.
  if (waits_for_others())
    return last_request_ && all_heard() ? last_heard_ : last_heard_ + plan_.request_timeout;
  if (phase_ == Phase::waiting) return run_.start();  // at once when it is known, to leave the phase
  Time due = border();
  if (!intended_.empty()) due = std::min(due, intended_.oldest() + plan_.request_timeout);
  if (plan_.interval != Duration{} && intended_.size() < plan_.depth && has_more())
    due = std::min(due, next_send_);
  return due == Time::max() ? std::nullopt : std::optional(due);
}

}  // namespace joust
