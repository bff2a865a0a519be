// SPDX-License-Identifier: MIT
#include "race/trial/sides.hpp"

#include <utility>

#include "race/trial/child.hpp"

namespace joust::race {

bool fail(SideFailure failure, Trial& trial) {
  if (!failure.document.empty()) read_load(failure.document, trial);
  trial.failure = std::move(failure.what);
  trial.last_words = std::move(failure.last_words);
  trial.refused = failure.refused;
  trial.not_found = failure.not_found;
  trial.host_lost = failure.of_host;
  return false;
}

bool Contender::start() {
  auto served = server_->start();
  if (!succeeded(served, trial_)) return false;
  trial_.server = std::move(served->result);
  auto loaded = load_->start(served->address);
  if (!succeeded(loaded, trial_)) return false;
  auto settled = server_->settle();
  return succeeded(settled, trial_);
}

// The server is read as close to the turn as possible, because one that polls uses CPU time all the while.
std::optional<Turn> Contender::take_turn(TurnSize size, bool recorded) {
  auto awake = load_->wake();
  if (!succeeded(awake, trial_)) return std::nullopt;
  auto at_rest_s = server_->wake(size);
  if (!succeeded(at_rest_s, trial_)) return std::nullopt;
  trial_.cpu_s_at_rest += *at_rest_s;
  auto turn = load_->take_turn(size, recorded);
  auto served = server_->rest();
  if (!succeeded(served, trial_) || !succeeded(turn, trial_)) return std::nullopt;
  auto loaded = load_->rest();
  if (!succeeded(loaded, trial_)) return std::nullopt;
  std::optional<double> steal_s;  // the time that other virtual machines took from the pinned CPUs
  for (const SideTurn* side : {&*served, &*loaded}) {
    note_surroundings(side->around, trial_);
    if (side->around.pinned) steal_s = steal_s.value_or(0) + side->around.pinned->steal_s;
  }
  trial_.turns_s += turn->turn_s;
  return Turn{.window_s = turn->window_s,
              .verified = turn->verified,
              .latency_sum_ns = turn->latency_sum_ns,
              .failed = turn->failed,
              .messages = turn->messages,
              .turn_s = turn->turn_s,
              .server_cpu_s = served->cpu_s,
              .client_cpu_s = loaded->cpu_s,
              .steal_s = steal_s};
}

Trial Contender::finish() {
  if (!finish_in_order()) {
    server_->end();
    load_->end();
  }
  if (stop_.requested()) trial_.interrupted = true;
  return std::move(trial_);
}

bool Contender::finish_in_order() {
  if (failed()) return false;
  auto summed = server_->sum_up();
  if (!succeeded(summed, trial_)) return false;
  auto loaded = load_->finish();
  if (stop_.requested() || !succeeded(loaded, trial_)) return false;
  if (const auto wrong = read_load(loaded->document, trial_)) return fail({.what = *wrong}, trial_);
  // The load cannot read its children's usage at the moment in which a turn begins.
  if (load_forks_) trial_.load->set_usage(scaled(trial_.load->usage(), loaded->cpu_s));
  auto served = server_->finish();
  if (stop_.requested() || !succeeded(served, trial_)) return false;
  trial_.server = std::move(served->result);
  trial_.busiest_thread = {.server = served->busiest_thread, .client = loaded->busiest_thread};
  if (!served->scheduling.empty() || !loaded->scheduling.empty())
    trial_.scheduling = Scheduling{.race = own_thread_group(),
                                   .server = std::move(served->scheduling),
                                   .client = std::move(loaded->scheduling)};
  return true;
}

}  // namespace joust::race
