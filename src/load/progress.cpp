// SPDX-License-Identifier: MIT
#include "load/progress.hpp"

#include <algorithm>
#include <utility>

namespace joust {

WindowRecord::WindowRecord(LoadRun& run, const Channel& channel)
    : run_(&run), ever_replied_(channel.ever_replied), entered_(channel.entered_window) {}

void WindowRecord::open(Time opens, bool written_in_advance, const Outstanding& outstanding,
                        const Schedule& schedule) {
  if (written_in_advance) recorder().bytes_sent(std::exchange(unseen_bytes_, 0));
  if (!run_->plan().open_loop())
    recorder().sent(outstanding.size());
  else if (!entered_)
    recorder().at_opening(schedule.due_before(opens), outstanding.size());
  entered_ = !run_->plan().turns;
  opens_ = opens - run_->windows_before();  // earlier windows come before on the time line
}

void WindowRecord::close(const Outstanding& outstanding, Time now) {
  if (outstanding.empty()) return;
  count_in_flight(outstanding, std::min(run_->closes().value_or(now), now));
  // By a schedule, the connection may have asked only just before.
  if (!replied_ && !ever_replied_ && !run_->plan().has_schedule()) recorder().never_answered();
}

void WindowRecord::sent(Time due, Time slot_free, Time now) {
  recorder().sent(1);
  if (run_->plan().open_loop()) recorder().sent_late(now - std::max(due, slot_free));
}

void WindowRecord::replied(const Outstanding::Request& request, bool open, Time now) {
  const LoadPlan& plan = run_->plan();
  replied_ = true;
  const bool counts = open && has(request.due);
  if (plan.turns || plan.open_loop()) recorder().replied(now, !counts);
  if (!counts) {
    if (plan.turns) recorder().beside();
    return;
  }
  recorder().verified(now - request.due, now - opens_);
  if (plan.open_loop()) recorder().uncorrected(now - request.sent);
  if (!std::exchange(answered_, true)) recorder().answered();
}

// Counts a lost request. One that was counted as in flight at the end of the window may become lost.
void WindowRecord::gave_up(const Outstanding::Request& request, bool open) {
  if (!has(request.due)) return;
  if (open)
    recorder().lost();
  else if (in_flight_counted_)
    recorder().lost_in_flight();
}

void WindowRecord::count_in_flight(const Outstanding& outstanding, Time now) {
  recorder().in_flight(in_flight(outstanding), now - outstanding.oldest_due());
  in_flight_counted_ = true;
}

std::size_t WindowRecord::in_flight(const Outstanding& outstanding) const {
  return run_->plan().open_loop() ? outstanding.due_since(*run_->opens()) : outstanding.size();
}

std::uint64_t WindowRecord::due(const Schedule& schedule, Time closes) const {
  return schedule.due_before(closes) - schedule.due_before(*run_->opens());
}

void WindowRecord::measured(Time now) {
  if (!std::exchange(measured_, true)) run_->measured(now);
}

void WindowRecord::leave(Channel& channel) const {
  channel.answered = answered_;
  channel.entered_window = entered_;
  channel.replied |= replied_;
  channel.ever_replied |= channel.replied;
}

Progress::Progress(LoadRun& run, const Channel& channel, bool lossy)
    : run_(&run),
      record_(run, channel),
      outstanding_(lossy),
      schedule_(channel.schedule ? *channel.schedule : Schedule(run.plan(), channel.number)) {}

// Which requests are sent, and when.

bool Progress::shows_requests() const {
  if (phase_ == Phase::waiting) return begins();
  return phase_ != Phase::ready || run_->opens();
}

bool Progress::wants_to_send() const {
  return outstanding_.size() < plan().depth && (has_more() || owes());
}

bool Progress::is_due(Time now) const {
  if (!plan().has_schedule()) return true;
  // In an open loop the time of each send is a result, so none is written in advance.
  if (in_advance()) return !plan().open_loop() && schedule_.begins_with_all() && outstanding_.empty();
  return now >= schedule_.next();
}

// Returns true if the current phase has another request, regardless of slots and time.
bool Progress::has_more() const {
  if (finished_ || phase_ == Phase::settling || phase_ == Phase::finishing) return false;
  const auto most = most_requests();
  const bool for_window = phase_ == Phase::waiting ? plan().warmup == Duration{} : phase_ != Phase::warming;
  return !most || !(for_window || plan().turns) || in_window_ < *most;
}

// Returns the number of requests of the window, or of a counted turn. The size of a counted turn is not known
// before it begins, but it has at least one request.
std::optional<std::uint64_t> Progress::most_requests() const {
  if (!plan().counted_turns) return plan().messages;
  return phase_ == Phase::waiting ? 1 : run_->messages_in_turn();
}

bool Progress::all_sent() const {
  if (phase_ != Phase::measuring) return false;
  const auto most = most_requests();
  return most && in_window_ >= *most;
}

// Returns whether requests of the window are still to be sent. In an open loop the requests that were due in
// the window are sent even if it is over, while the server is too slow or stalls: each of them counts. If the
// server stays too slow, the wait ends.
bool Progress::owes() const {
  return plan().open_loop() && left_window_ && !cut_off_ && !finished_ && !plan().messages &&
         schedule_.next() < closes_;
}

Time Progress::deadline() const {
  Time due = Time::max();
  if (phase_ == Phase::warming && !plan().counted_turns) due = warm_up_ends();
  if (phase_ == Phase::measuring) due = closes_;
  if (outstanding_.empty()) return due;
  return std::min(due, outstanding_.oldest_sent() + *plan().request_timeout);
}

// By a schedule, a request is due at its place in the schedule, however late the loop sends it. The delay
// counts as latency; otherwise a slow client would hide the latency that it causes. Without a schedule it is
// due when its slot is free: before `now` only if it has waited for a connection in this turn, or window.
void Progress::sent(std::uint64_t number, Time slot_free, Time now) {
  const bool by_schedule = plan().has_schedule() && !in_advance();
  if (slot_free < now && run_->start()) slot_free = std::max(slot_free, *run_->start());
  if (slot_free < now && plan().messages && run_->opens()) slot_free = std::max(slot_free, *run_->opens());
  const Time due = by_schedule ? schedule_.next() : slot_free;
  outstanding_.push(number, due, plan().open_loop() ? std::optional(now) : std::nullopt);
  if (phase_ == Phase::measuring || phase_ == Phase::ready || plan().warmup == Duration{}) ++in_window_;
  if (by_schedule) schedule_.advance();
  if (!in_advance() && records(now) && record_.has(due)) record_.sent(due, slot_free_, now);
}

void Progress::wrote(std::uint64_t bytes, Time now) {
  if (in_advance()) record_.wrote_in_advance(bytes);
  if (records(now)) record_.wrote(bytes);
}

// Notes a free slot. Called before a request is removed, or when the output has room for one.
void Progress::free_slot(bool held_back, Time now) {
  if (outstanding_.size() < plan().depth && !held_back) return;
  slot_free_ = now;
  // Closed loop: all slots were in use, so later sends are moved back, and no burst makes up for them.
  if (plan().has_schedule() && !plan().open_loop()) schedule_.move_back(now);
}

// The phases.

// Begins the load or a turn. The requests written in advance are sent, on all connections at the same
// instant.
bool Progress::begin() {
  if (phase_ != Phase::waiting || !begins()) return false;
  turn_ = run_->turn();
  left_window_ = cut_off_ = false;
  const Time start = *run_->start();
  const bool at_once =
      plan().turns ? plan().counted_turns && run_->turn_is_recorded() : plan().warmup == Duration{};
  if (at_once) {
    enter_window(start);
    return true;
  }
  record_.forget_advance();
  begin_schedule(start);
  closes_ = run_->closes().value_or(Time::max());
  phase_ = Phase::warming;
  return true;
}

// Begins the schedule. The requests that were written in advance are sent now.
void Progress::begin_schedule(Time now) {
  outstanding_.set_all(now);
  if (!plan().has_schedule()) return;
  schedule_.begin(now);
  if (!outstanding_.empty()) schedule_.advance();
}

void Progress::pass_warm_up(Time now) {
  if (phase_ != Phase::warming) return;
  if (plan().counted_turns ? has_more() : now < warm_up_ends()) return;
  if (plan().messages || (plan().turns && !run_->turn_is_recorded()))
    phase_ = Phase::settling;
  else
    enter_window(*run_->opens());
}

bool Progress::get_ready() {
  if (phase_ != Phase::settling || !outstanding_.empty() || !plan().messages) return false;
  phase_ = Phase::ready;
  schedule_.restart();
  return true;
}

void Progress::pass_window(Time now) {
  if (phase_ == Phase::ready && run_->opens()) enter_window(*run_->opens());
  if (phase_ == Phase::measuring && !in_window(now)) leave_window(now);
}

void Progress::enter_window(Time opens) {
  const bool written_in_advance = phase_ != Phase::warming;
  if (written_in_advance) begin_schedule(opens);
  record_.open(opens, written_in_advance, outstanding_, schedule_);
  phase_ = Phase::measuring;
  if (plan().messages) return;
  closes_ = run_->closes().value_or(Time::max());
  if (!plan().turns) run_->entered_window();
}

void Progress::leave_window(Time now) {
  phase_ = plan().turns ? Phase::settling : Phase::finishing;
  if (plan().open_loop() && !plan().messages && !left_window_)
    record_.at_close(schedule_.due_before(closes_), outstanding_.size());
  if (std::exchange(left_window_, true) || plan().turns) return;
  if (plan().open_loop()) return;  // its requests are still to be answered
  record_.close(outstanding_, now);
  record_.measured(now);
}

void Progress::rest() {
  phase_ = Phase::waiting;
  in_window_ = 0;
  schedule_.pause(closes_);
}

void Progress::stop_waiting(Time now) {
  if (owes() && now >= closes_ + *plan().request_timeout) cut_off(now);
}

// Ends the wait for the window's requests, answered or not.
void Progress::cut_off(Time now) {
  if (records(now) && !outstanding_.empty()) record_.count_in_flight(outstanding_, now);
  if (owes()) record_.never_sent(schedule_, closes_);
  cut_off_ = true;
}

void Progress::finish_if_done(Time now) {
  if (phase_ != Phase::finishing || owes()) return;
  finished_ = true;
  if (plan().open_loop() && !plan().turns) record_.measured(now);
}

void Progress::drain(Time now) {
  closes_ = std::min(closes_, now);
  if (phase_ == Phase::measuring) leave_window(now);
  cut_off(now);  // in the middle of a turn, or of an open loop
  phase_ = Phase::finishing;
}

// Returns whether replies are recorded. In a turn no request is sent after the window's end, but the replies
// to requests in flight still count: otherwise a server that stalls at that time would lose neither time nor
// latency.
bool Progress::records(Time now) const {
  if (in_window(now)) return true;
  if (!left_window_ || cut_off_) return false;
  return plan().turns ? phase_ == Phase::settling : plan().open_loop() && phase_ == Phase::finishing;
}

void Progress::answered(std::size_t place, bool held_back, Time now) {
  free_slot(held_back, now);
  record_.replied(outstanding_.take(place), records(now), now);
}

void Progress::give_up_oldest(bool held_back, Time now) {
  free_slot(held_back, now);
  record_.gave_up(outstanding_.give_up_oldest(), records(now));
}

// Counts the requests of the window that this connection will not send any more, because it has failed.
void Progress::lose_schedule() {
  if (!plan().open_loop() || plan().messages) return;
  const bool before_end = phase_ == Phase::warming || phase_ == Phase::measuring;
  if (owes() || before_end) record_.never_sent(schedule_, closes_);
  if (owes() || !before_end) return;
  const bool opened = phase_ == Phase::measuring;
  record_.at_close(opened ? schedule_.due_before(closes_) : record_.due(schedule_, closes_), 0);
}

void Progress::fail(Time now) {
  if (records(now)) record_.failed(outstanding_);
  if (phase_ < Phase::ready && plan().messages && plan().warmup != Duration{}) run_->settled(now);
  if (!plan().turns) {
    left_window_ = true;
    record_.measured(now);
  } else if (phase_ != Phase::finishing) {
    run_->gone(turn_, phase_ == Phase::waiting, now);
  }
  outstanding_.clear();
  phase_ = Phase::finishing;
}

// Connections in place of this one.

// Leaves the remaining work in the channel. Requests written in advance were not sent: the next connection
// writes its own.
void Progress::leave(Channel& channel, bool takes_part, Time now) {
  if (takes_part && records(now)) record_.failed(outstanding_);
  if (plan().turns && takes_part) {
    lose_schedule();
    run_->gone(turn_, phase_ == Phase::waiting, now);
  } else if (plan().has_schedule()) {
    channel.schedule.emplace(schedule_);
  }
  channel.in_window = in_advance() || plan().turns ? 0 : in_window_;
  record_.leave(channel);
  finished_ = true;
  outstanding_.clear();
  phase_ = Phase::finishing;
}

// Takes part in the phase that the load has reached. In an open loop the requests that were due meanwhile are
// sent now, and are late by that time. In a closed loop none was due.
bool Progress::rejoin(Channel& channel, Time now) {
  record_.rejoin(channel);
  turn_ = run_->reconnected(channel, now);
  if (plan().turns || !run_->start()) return false;
  phase_ = Phase::warming;
  in_window_ = channel.in_window;
  closes_ = run_->closes().value_or(Time::max());
  slot_free_ = now;
  if (plan().has_schedule() && !schedule_.has_begun())
    schedule_.begin(plan().open_loop() ? *run_->start() : now);
  else if (plan().has_schedule() && !plan().open_loop())
    schedule_.move_back(now);
  if (plan().messages && run_->opens())
    enter_window(*run_->opens());
  else if (plan().messages && channel.settled)
    phase_ = Phase::ready;
  return true;
}

std::unique_ptr<Handover> Progress::hand_over(Time now) {
  const std::uint64_t in_flight = records(now) ? record_.in_flight(outstanding_) : 0;
  auto handover = std::make_unique<Handover>(std::move(*this), in_flight, now);
  handover->progress.record_.forget_advance();  // the next connection writes its own
  run_->recorder().handed_over(in_flight);
  outstanding_.clear();
  phase_ = Phase::finishing;
  finished_ = true;
  return handover;
}

}  // namespace joust
