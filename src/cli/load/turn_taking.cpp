// SPDX-License-Identifier: MIT
#include "cli/load/turn_taking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

#include "cli/common/output.hpp"

namespace joust {
namespace {

std::atomic<TurnTaking*> conducted{nullptr};

}  // namespace

TurnTaking::TurnTaking(LoadRun& run, bool long_ramp)
    : run_(run), long_ramp_(long_ramp || run.plan().open_loop()) {
  assert(conducted == nullptr);
  conducted = this;
}

TurnTaking::~TurnTaking() {
  conducted = nullptr;
}

void TurnTaking::begin(int value) noexcept {
  TurnTaking* const taking = conducted;
  if (taking == nullptr || value == 0 || taking->run_.turn_under_way()) return;
  const std::int64_t size = std::abs(std::int64_t{value});
  taking->before_ = own_times();
  taking->began_ = Clock::now();
  if (taking->run_.plan().counted_turns)
    return taking->run_.begin_counted_turn(taking->began_, static_cast<std::uint64_t>(size), value > 0);
  const Duration length = std::chrono::microseconds(size);
  taking->run_.begin_turn(taking->began_, length,
                          value > 0 ? std::optional(taking->ramp_of(length)) : std::nullopt);
}

Duration TurnTaking::ramp_of(Duration length) const {
  const Duration longest = length / kRampShare;
  if (long_ramp_ || latency_ == Duration{}) return longest;
  return std::min(longest, std::max(kShortestRamp, kRoundTripsInRamp * latency_));
}

// In a closed loop all slots are in use, so the latency follows from the number of replies (Little's law).
void TurnTaking::learn_latency(Duration turn, std::uint64_t replies) {
  const auto slots = static_cast<std::int64_t>(run_.plan().connections * run_.plan().depth);
  if (replies > 0) latency_ = turn * slots / static_cast<std::int64_t>(replies);
}

void TurnTaking::end() {
  const Time now = Clock::now();
  used_ = used_ + (own_times() - before_);
  used_over_ += now - began_;
  const Recorder::Counts counts = run_.recorder().counts();
  const std::uint64_t answered = counts.verified + counts.beside;
  learn_latency(now - began_, answered - std::exchange(answered_, answered));
  const Recorder::Replies replies = run_.recorder().replies_since(began_);
  const auto ns = [](Time time) { return time.time_since_epoch() / Duration(1); };
  const std::string line = fmt::format(
      R"({{"event":"turn","turn":{},"began_ns":{},"from_ns":{},"last_ns":{},"ended_ns":{},)"
      R"("verified":{},"beside":{},"failed":{},"latency_sum_ns":{}}})"
      "\n",
      run_.turn(), ns(began_), ns(replies.last_of_ramp.value_or(began_)), ns(replies.last.value_or(began_)),
      ns(now), counts.verified, counts.beside, counts.failed, counts.latency_sum_ns);
  try_print_out(line);
}

}  // namespace joust
