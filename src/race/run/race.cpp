// SPDX-License-Identifier: MIT
#include "race/run/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/watches.hpp"
#include "race/figures/disturbance.hpp"
#include "race/judgement/verdict.hpp"
#include "race/run/call_counts.hpp"
#include "race/run/generation_run.hpp"
#include "race/run/stopping_rule.hpp"
#include "race/scenario/shell_command.hpp"

namespace joust::race {
namespace {

// How often a counting trial is repeated because its counters were read too late.
constexpr int kLateTrials = 2;

// The longest time in which no process of the race runs and its figures still count. A busy machine may hold
// a thread for less.
constexpr Duration kLongestPause = std::chrono::seconds(2);

constexpr double kLost = std::numeric_limits<double>::infinity();  // the severity of a lost host

std::string with_last_words(std::string note, const Trial& trial) {
  for (const std::string& line : trial.last_words) note += "\n    | " + line;
  return note;
}

// The rounds of a race in which a host was lost, and what follows. One thread.
class LostHosts {
 public:
  // `most`: how often in a race a round is run again for it.
  LostHosts(LostHost choice, std::uint64_t most) : choice_(choice), most_(most) {}

  // Refuses a round. Returns whether it is to be run again; otherwise the race is to end.
  bool run_again(std::uint64_t round, const std::string& why, RaceObserver& observer) {
    const std::size_t before = reasons_.size();
    reasons_.push_back(why);
    ends_ = choice_ == LostHost::end || before >= most_;
    if (ends_)
      observer.note(fmt::format("{}: round {} is refused, and the race ends", why, round));
    else
      observer.note(
          fmt::format("{}: round {} is refused and run again ({} of {})", why, round, before + 1, most_));
    return !ends_;
  }

  bool end_race() const { return ends_; }
  // Returns why rounds were refused, in their order.
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  const LostHost choice_;
  const std::uint64_t most_;
  std::vector<std::string> reasons_{};
  bool ends_ = false;
};

// Looks for a trial in which a host was lost. If there is one, refuses all of them: none counts, and those
// that were not run get its failure. Returns the failure; empty if no host was lost.
std::string refuse_if_lost(std::vector<Trial>& trials) {
  const auto lost = std::ranges::find_if(trials, &Trial::host_lost);
  if (lost == trials.end()) return {};
  const std::string why = lost->failure;
  for (Trial& trial : trials) {
    trial.counted = false;
    trial.host_lost = true;
    if (trial.failure.empty() && !trial.load) trial.failure = why;
  }
  return why;
}

// One run of the plan: the loop over rounds, attempts and trials.
class Running {
 public:
  Running(const Scenario& scenario, Plan plan, TrialRunner& runner, RaceObserver& observer, const Stop& stop)
      : scenario_(scenario), plan_(std::move(plan)), runner_(runner), observer_(observer), stop_(stop) {
    if (!plan_.by_rule) trials_ = trials_in(plan_) + counting_pass().size();
    turns_.assign(plan_.cases.size(), {.length = scenario_.turn});
  }

  RaceResult run() {
    RaceResult result{.scenario = scenario_, .seed = plan_.seed};
    while (goes_on(result) && run_round(result)) ++result.rounds;
    count_calls();
    result.looks = plan_.by_rule ? StoppingRule::kLooks : 1;
    result.refused = refused_;
    result.rounds_again = rounds_again_;
    result.lost_hosts = lost_hosts_.reasons();
    result.complete = !over();
    if (lost_hosts_.end_race())
      result.incomplete = fmt::format("it ended after {}, because a round was refused: {}",
                                      counted(result.rounds, "round"), result.lost_hosts.back());
    if (stop_.requested())
      result.incomplete = plan_.by_rule
                              ? fmt::format("interrupted after {}", counted(result.rounds, "round"))
                              : fmt::format("interrupted after {} of {} rounds", result.rounds, plan_.rounds);
    for (std::size_t i = 0; i < plan_.cases.size(); ++i) {
      plan_.cases[i].look = rule_.look_of(i);
      plan_.cases[i].looks_taken = rule_.looks_at(i);
    }
    result.cases = std::move(plan_.cases);
    return result;
  }

 private:
  bool goes_on(const RaceResult& result) {
    if (result.rounds == plan_.rounds) return false;
    if (plan_.by_time && !rule_.has_time(result.rounds, Clock::now())) return false;
    if (!plan_.by_rule) return true;
    if (StoppingRule::look_after(result.rounds) == stats::Look::last) return true;
    RaceResult so_far = result;
    so_far.cases = plan_.cases;
    rule_.look(std::move(so_far), Clock::now());
    return !rule_.reached();
  }

  bool goes_on(std::size_t case_index) const {
    return !plan_.by_rule || (!rule_.reached(case_index) && rule_.has_part(case_index, Clock::now()));
  }

  bool over() const { return stop_.requested() || !refused_.empty() || lost_hosts_.end_race(); }

  Entry& entry(const Slot& slot) { return plan_.cases[slot.case_index].entries[slot.entry_index]; }

  // Returns false if the race was interrupted before the round's end. Its trials so far are kept.
  bool run_round(const RaceResult& result) {
    const std::uint64_t round = result.rounds + 1;
    begin_round(plan_, round);
    for (const std::size_t i : cases_in_order(plan_, round))
      if (plan_.cases[i].plan.load.turns && goes_on(i) && !over()) run_generation_of(i, round);
    if (over()) return false;
    const auto most_again = static_cast<std::uint64_t>(
        kMostRoundsAgain * static_cast<double>(plan_.by_rule ? kStandardRounds : plan_.rounds));
    std::uint64_t best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint64_t attempt = 1;; ++attempt) {
      const Time began = Clock::now();
      const auto worst = run_attempt(round, attempt);
      if (!worst) break;
      if (std::isinf(worst->severity)) {
        if (best == attempt) ++best;
        if (!lost_hosts_.run_again(round, worst->what, observer_)) break;
        trials_ += order_of_round(plan_, round, attempt + 1).size();
        continue;
      }
      if (worst->severity < least) {
        least = worst->severity;
        best = attempt;
      }
      if (worst->severity <= 1 || scenario_.quick || rounds_again_ >= most_again) break;
      if (plan_.by_time && !rule_.has_time_for(Clock::now() - began, Clock::now())) break;
      ++rounds_again_;
      trials_ += order_of_round(plan_, round, attempt + 1).size();
      observer_.note(fmt::format("round {} {}: it is run again", round, worst->what));
    }
    keep_attempt(round, best);
    return !over();
  }

  // Returns the disturbance of the most disturbed trial, because a comparison needs both. It is infinite
  // where a host was lost. Nothing when interrupted or refused.
  std::optional<Disturbance> run_attempt(std::uint64_t round, std::uint64_t attempt) {
    Disturbance worst;
    std::uint64_t position = 0;
    for (const Slot& slot : order_of_round(plan_, round, attempt)) {
      if (plan_.cases[slot.case_index].plan.load.turns) continue;
      ++position;
      if (entry(slot).failures >= kMostFailures) {
        ++done_;
        continue;
      }
      pauses_.take();
      Trial trial = run_trial(slot, round, false);
      note_pause(trial);
      if (trial.interrupted || trial.refused || (trial.host_lost && stop_.requested())) return std::nullopt;
      trial.round = round;
      trial.attempt = attempt;
      trial.position = position;
      Disturbance here = trial.host_lost ? Disturbance{.severity = kLost, .what = trial.failure}
                                         : disturbance_of(trial, entry(slot).in_process);
      trial.disturbed = here.severity > 1;
      if (here.severity > worst.severity) worst = std::move(here);
      keep(slot, std::move(trial));
      if (stop_.requested()) return std::nullopt;
      if (std::isinf(worst.severity)) break;
    }
    for (CaseResult& one : plan_.cases) replace_reference(one);
    return worst;
  }

  // Runs one generation of a case. It is not repeated, because a disturbance affects all of its contestants,
  // unless a host was lost in it.
  void run_generation_of(std::size_t case_index, std::uint64_t round) {
    for (std::uint64_t attempt = 1;; ++attempt) {
      const std::string lost = try_generation_of(case_index, round, attempt);
      if (lost.empty() || !lost_hosts_.run_again(round, lost, observer_)) return;
    }
  }

  // Returns why a host was lost; empty if none was.
  std::string try_generation_of(std::size_t case_index, std::uint64_t round, std::uint64_t attempt) {
    const Case& one = plan_.cases[case_index].plan;
    std::vector<Slot> slots = order_of_round(plan_, round, attempt);
    std::erase_if(slots, [&](const Slot& slot) { return slot.case_index != case_index; });
    done_ += std::erase_if(slots, [&](const Slot& slot) { return entry(slot).failures >= kMostFailures; });
    if (slots.empty()) return {};
    std::vector<TrialOrder> orders;
    for (const Slot& slot : slots) orders.push_back({.load_case = one, .entry = entry(slot)});
    GenerationPlan generation{
        .seed = plan_.seed,
        .number = round,
        .race_began = begun_,
        .window = one.load.duration,
        .warmup = one.load.warmup,
        .warms_up_again = one.warmup_given || !plan_.by_rule,
        .turns = turns_of(case_index),
        .deadline = plan_.by_time ? std::optional(begun_ + scenario_.time) : std::nullopt,
        .turn = turns_[case_index].length,
        .counted = one.load.counted_turns,
        .messages = one.turn.count};
    observer_.trial_starts(step_of(slots.front(), round, false));
    const Time began = Clock::now();
    pauses_.take();
    std::vector<Trial> trials = run_generation(*runner_.generation(orders), orders, generation, stop_);
    note_pause(trials.front());
    const Duration took = Clock::now() - began;
    rule_.took(case_index, took);
    if (stop_.requested())  // the end of the processes there is no loss of a host
      for (Trial& trial : trials)
        if (std::exchange(trial.host_lost, false)) trial.interrupted = true;
    std::string lost = refuse_if_lost(trials);
    if (lost.empty()) turns_[case_index].times.push_back(time_of(trials, took));
    if (generation.too_long && lost.empty()) {
      give_up_turns_of(case_index, *generation.too_long);
      return {};
    }
    turns_[case_index].length = generation.turn;
    TurnPlan& turn = plan_.cases[case_index].plan.turn;
    turn.count = generation.messages;
    if (turn.ramp == Duration{}) turn.ramp = generation.ramp.value_or(Duration{});
    for (std::size_t i = 0; i < slots.size(); ++i) {
      Trial& trial = trials[i];
      note_refusal(trial);
      if (trial.interrupted || trial.refused) continue;
      trial.round = round;
      trial.attempt = attempt;
      trial.position = i + 1;
      trial.disturbed = disturbance_of(trial, entry(slots[i]).in_process).severity > 1;
      observer_.trial_ended(step_of(slots[i], round, false), trial);
      keep(slots[i], std::move(trial));
    }
    replace_reference(plan_.cases[case_index]);
    done_ += slots.size();
    if (!lost.empty()) trials_ += slots.size();
    return lost;
  }

  // Returns how many turns the next generation has, where the noise of the case tells.
  std::optional<std::uint64_t> turns_of(std::size_t case_index) const {
    if (!plan_.by_rule) return std::nullopt;
    const auto cases = static_cast<std::int64_t>(plan_.cases.size());
    const Duration left = (begun_ + scenario_.time - Clock::now()) / cases;
    return best_turns(plan_.cases[case_index], turns_[case_index].times, left);
  }

  // Refuses a trial in which no process of the race ran for a while.
  void note_pause(Trial& trial) {
    const Duration pause = pauses_.take();
    if (pause < kLongestPause || trial.interrupted) return;
    trial.host_lost = true;
    trial.failure = fmt::format("the process of the race did not run for {:.1f} s",
                                std::chrono::duration<double>(pause).count());
  }

  // Plans whole trials for the case; they follow in the same round.
  void give_up_turns_of(std::size_t case_index, Duration message) {
    const Case& one = plan_.cases[case_index].plan;
    const auto messages = static_cast<std::int64_t>(std::max<std::uint64_t>(one.turn.count, 1));
    observer_.note(fmt::format("{}a turn would take {}, which is too long: whole trials",
                               plan_.cases.size() > 1 ? one.name + ": " : "",
                               format_duration(message * messages)));
    give_up_turns(plan_, scenario_, case_index, message);
    rule_ = StoppingRule(scenario_, plan_, begun_);
    if (!plan_.by_rule) trials_ = trials_in(plan_) + counting_pass().size();
  }

  RaceObserver::Step step_of(const Slot& slot, std::uint64_t round, bool counting) {
    const CaseResult& one = plan_.cases[slot.case_index];
    const auto goal = plan_.by_rule ? std::optional(scenario_.precision) : std::nullopt;
    return {.round = round,
            .rounds = plan_.by_rule ? 0 : plan_.rounds,
            .trial = done_ + 1,
            .trials = trials_,
            .time = scenario_.time,
            .entry = entry(slot),
            .load_case = one.plan,
            .interim = interim_text(one, goal),
            .warnings = interim_warnings(one, plan_.cpus),
            .counting = counting};
  }

  void note_refusal(const Trial& trial) {
    if (trial.refused && refused_.empty())
      refused_ = trial.last_words.empty() ? trial.failure : join(trial.last_words, "\n");
  }

  Trial run_trial(const Slot& slot, std::uint64_t round, bool counting) {
    Case load_case = plan_.cases[slot.case_index].plan;
    if (counting && load_case.load.turns) make_short(load_case);
    load_case.load.warmup = entry(slot).contestant.warmup.value_or(load_case.load.warmup);
    const RaceObserver::Step step = step_of(slot, round, counting);
    ++done_;
    observer_.trial_starts(step);
    Trial trial = runner_.run({.load_case = load_case, .entry = entry(slot), .count_calls = counting});
    note_refusal(trial);
    if (!trial.interrupted) observer_.trial_ended(step, trial);
    return trial;
  }

  void keep(const Slot& slot, Trial trial) {
    Entry& who = entry(slot);
    if (!trial.failure.empty() && !trial.host_lost) {
      if (who.trials.empty() || who.trials.back().failure != trial.failure)
        observer_.note(with_last_words(fmt::format("{}: {}", who.contestant.name, trial.failure), trial));
      advise(who, trial);
      if (trial.not_found && who.trials.empty()) return leave_out(who, trial);
      if (++who.failures == kMostFailures)
        observer_.note(fmt::format("{} has failed {} times and is not tried any more", who.contestant.name,
                                   kMostFailures));
    }
    who.trials.push_back(std::move(trial));
  }

  // Makes a contestant whose program is not here a row with the reason, as engines that are not available
  // are. A program says on its last line what it lacks.
  static void leave_out(Entry& who, const Trial& trial) {
    who.unavailable = fmt::format("unavailable: {}", trial.failure);
    if (!trial.last_words.empty()) who.unavailable += ": " + trial.last_words.back();
    who.reason = who.unavailable;
    who.ranked = false;
  }

  // Says once how the programs of the sources are made.
  void advise(const Entry& who, const Trial& trial) {
    const bool is_unbuilt = trial.not_found && is_built_program(who.contestant.command, scenario_.file);
    if (is_unbuilt && !std::exchange(advised_, true))
      observer_.note("script/build makes the programs of these sources: run it first");
  }

  // Keeps the least disturbed attempt of a round. The results do not affect the choice.
  void keep_attempt(std::uint64_t round, std::uint64_t best) {
    for (CaseResult& one : plan_.cases)
      for (Entry& who : one.entries)
        for (Trial& trial : who.trials)
          if (trial.round == round && !one.plan.load.turns) trial.counted = trial.attempt == best;
  }

  std::vector<Slot> counting_pass() {
    if (!plan_.counts_calls) return {};
    std::vector<Slot> slots = order_of_round(plan_, 1);
    std::erase_if(slots, [&](const Slot& slot) {
      return !entry(slot).is_contestant() || !too_few_to_count(plan_.cases[slot.case_index].plan).empty();
    });
    std::ranges::sort(slots, {},
                      [](const Slot& slot) { return std::pair(slot.case_index, slot.entry_index); });
    return slots;
  }

  // Runs one more trial of each contestant, without timing. If a machine refuses the tracepoint once, it
  // always refuses it.
  void count_calls() {
    std::string refused;
    for (const Slot& slot : counting_pass()) {
      Entry& who = entry(slot);
      if (over())
        who.calls.reason = "the race was interrupted before they were counted";
      else if (plan_.by_time && slot.case_index > 0 && rule_.is_over(Clock::now()))
        who.calls.reason = "the race's time was over before they were counted (--time)";
      else if (refused.empty() && who.failures < kMostFailures)
        who.calls = count_calls_of(slot, refused);
      else
        who.calls.reason = refused.empty() ? "it failed" : refused;
      for (Trial& trial : who.trials) apply(who.calls, trial);
    }
    for (CaseResult& one : plan_.cases) share_counts(one);
  }

  CallCount count_calls_of(const Slot& slot, std::string& refused) {
    Trial trial = run_trial(slot, plan_.rounds, true);
    for (int again = 0; trial.late && again < kLateTrials; ++again, ++trials_)
      trial = run_trial(slot, plan_.rounds, true);
    if (trial.interrupted) return {.reason = "interrupted"};
    if (!trial.measured()) return {.reason = "the trial that counts them failed: " + what_failed(trial)};
    const bool counted = trial.server_calls || trial.client_calls;
    if (!trial.late && !counted) refused = trial.calls_reason;
    if (const std::string reason = too_little_to_count(*trial.load); counted && !reason.empty())
      return {.reason = reason};
    return {.server = trial.server_calls,
            .client = trial.client_calls,
            .messages = trial.load->messages.verified,
            .window_s = trial.load->duration_s,
            .reason = trial.calls_reason};
  }

  const Scenario& scenario_;
  Plan plan_;
  TrialRunner& runner_;
  RaceObserver& observer_;
  const Stop& stop_;
  const Time begun_ = Clock::now();
  StoppingRule rule_{scenario_, plan_, begun_};
  std::size_t done_ = 0, trials_ = 0;
  std::uint64_t rounds_again_ = 0;
  std::vector<TurnsOfCase> turns_{};
  std::string refused_{};
  LostHosts lost_hosts_{scenario_.lost_host, kMostLostRounds};
  PauseWatch pauses_;
  bool advised_ = false;
};

}  // namespace

RaceResult run_race(const Scenario& scenario, Plan plan, TrialRunner& runner, RaceObserver& observer,
                    const Stop& stop) {
  return Running(scenario, std::move(plan), runner, observer, stop).run();
}

}  // namespace joust::race
