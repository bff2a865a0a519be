// SPDX-License-Identifier: MIT
#include "load/window_record.hpp"

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

}  // namespace joust
