// SPDX-License-Identifier: MIT
#include "cli/load/turn_taking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>

#include "cli/common/output.hpp"

namespace joust {
namespace {

std::atomic<TurnTaking*> conducted{nullptr};

}  // namespace

TurnTaking::TurnTaking(LoadRun& run, Duration ramp) : run_(run), ramp_(ramp) {
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
  return ramp_ > Duration{} ? std::min(ramp_, longest) : longest;
}

void TurnTaking::end() {
  const Time now = Clock::now();
  used_ = used_ + (own_times() - before_);
  used_over_ += now - began_;
  const Recorder::Counts counts = run_.recorder().counts();
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
