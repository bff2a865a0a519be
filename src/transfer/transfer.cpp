// SPDX-License-Identifier: MIT
#include "transfer/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "connection/tally.hpp"

namespace joust::transfer {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(50);
constexpr unsigned kMostDoublings = 5;
constexpr Duration kIdlePause = std::chrono::seconds(1);

}  // namespace

void Transfer::connected() {
  ++counts_.connections;
  const std::lock_guard lock(mutex_);
  reached();
}

// What was refused before is dialled again from now on.
void Transfer::reached() {
  if (!std::exchange(was_reached_, true)) counts_.retries += waiting_;
}

void Transfer::answered() {
  if (!was_answered()) was_answered_.store(true, std::memory_order_relaxed);
}

std::string Transfer::words_on(const Failure& failure) const {
  if (was_answered()) return describe(failure);
  if (failure.stage == Stage::timeout)
    return fmt::format("{}: {}{}", asked_.address, failure.detail, asked_.if_silent);
  const bool is_closed = failure.stage == Stage::receive || failure.stage == Stage::send;
  return describe(failure) + (is_closed ? asked_.if_closed : "");
}

// A server that was never reached is no lost one: the address is wrong, or nobody is there. But as long as
// another connection may be opened, one that was refused says little: the server may have been full.
void Transfer::not_opened(const Failure& failure, Time now) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !was_reached_;
    if (first && most_retries_ > 0) ++waiting_;
    if (first && ++refused_ < dials_) return;
  }
  if (!first) return lost(failure, false, now);
  complain(describe(failure));
  end();
}

// Connections that wait at the same time are silent together, and one that was opened after that is silent
// again.
bool Transfer::silent_again() {
  if (opened_before_silence_ == 0) opened_before_silence_ = counts_.connections;
  return counts_.connections > opened_before_silence_;
}

// Connections that are lost together count once: those of a server that ends, and those that it refuses until
// it is there again. Who accepts twice and never says a word is no server of this protocol, or none at all.
void Transfer::lost(const Failure& failure, bool idle, Time now) {
  if (over()) return;
  {
    const std::lock_guard lock(mutex_);
    reached();
    const bool is_silent = failure.stage == Stage::timeout && !was_answered() && silent_again();
    const bool again = !idle && now >= next_dial_;
    if (!is_silent && (!again || in_a_row_ < most_retries_)) {
      if (idle) next_dial_ = std::max(next_dial_, now + kIdlePause);
      if (again) next_dial_ = now + kFirstPause * (1U << std::min<unsigned>(in_a_row_++, kMostDoublings));
      ++waiting_;
      ++counts_.retries;
      return;
    }
  }
  complain(words_on(failure));
  end();
}

std::optional<Redial> Transfer::redial(Time now) {
  if (over()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (waiting_ == 0) return std::nullopt;
  if (!was_reached_) return Redial{.at = now + kFirstPause};  // by then it may be
  if (now >= next_dial_) {
    --waiting_;
    return Redial{.at = now};
  }
  return Redial{.at = next_dial_};
}

void Transfer::complain(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(complaints_, text) != complaints_.end()) return;
  if (complaints_.size() < kMostComplaints)
    complaints_.push_back(text);
  else
    ++more_complaints_;
}

std::vector<std::string> Transfer::complaints() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all = complaints_;
  if (more_complaints_ > 0) all.push_back(fmt::format("and {} more", more_complaints_));
  return all;
}

void Transfer::end() {
  over_.store(true, std::memory_order_release);
  announce();
}

}  // namespace joust::transfer
