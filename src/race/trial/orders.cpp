// SPDX-License-Identifier: MIT
#include "race/trial/orders.hpp"

#include <algorithm>
#include <set>

#include "race/set_up/cpu_list.hpp"
#include "race/trial/commands.hpp"

namespace joust::race {
namespace {

using std::chrono::seconds;

ChildCommand own_command(const ProcessSetup& setup, const Words& words) {
  ChildCommand command{.program = setup.program, .words = setup.first_words};
  command.words.insert(command.words.end(), words.begin(), words.end());
  return command;
}

// Returns the time to start. The limit of a whole trial, if it has one, applies to the start too, unless the
// contestant has a limit of its own.
Duration time_to_start(const ProcessSetup& setup, const Entry& entry) {
  return entry.contestant.ready_timeout.value_or(
      setup.scenario.limits.trial_timeout.value_or(setup.server_start));
}

// Returns whether connections end within turns, and others take their place.
bool replaces_connections(const TrialOrder& order) {
  constexpr const char* kOption = "requests-per-connection";
  const LoadPlan& load = order.load_case.load;
  return load.reconnects() || load.messages_per_connection || order.entry.server_options.contains(kOption) ||
         order.entry.client_options.contains(kOption);
}

// Returns whether the threads of a contestant were looked at in no earlier trial.
bool is_scheduling_wanted(const TrialOrder& order) {
  return std::ranges::none_of(order.entry.trials,
                              [](const Trial& one) { return one.scheduling.has_value(); });
}

ChildCommand server_command_of(const ProcessSetup& setup, const TrialOrder& order) {
  const Contestant& contestant = order.entry.contestant;
  if (order.entry.in_process || (contestant.external() && contestant.command.empty())) return {};
  if (!contestant.external())
    return own_command(setup, serve_words(setup.scenario, order.load_case, order.entry, setup.cpus));
  ChildCommand command = shell_command(contestant.command, setup.cpus.server);
  command.ready = contestant.ready;
  return command;
}

}  // namespace

ChildCommand shell_command(const std::string& text, const std::string& cpus) {
  ChildCommand command{.program = "/bin/sh", .words = {"sh", "-c", text}, .foreign = true};
  const std::set<int> pinned = cpus_in(cpus);
  command.cpus.assign(pinned.begin(), pinned.end());
  return command;
}

ServerOrder server_order(const ProcessSetup& setup, const TrialOrder& order, CommandValues values) {
  const Entry& entry = order.entry;
  const auto has_ignored = [](const Trial& earlier) { return earlier.server.ignores_stop; };
  return {
      .command = server_command_of(setup, order),
      .values = std::move(values),
      .time_to_start = time_to_start(setup, entry),
      .time_to_stop = setup.server_stop,
      .ignores_stop = std::ranges::any_of(entry.trials, has_ignored),
      .forks_for = entry.server_forks ? order.load_case.load.connections : 0,
      .may_start_others = entry.contestant.external() || (entry.server_forks && replaces_connections(order)),
      .shows_scheduling = is_scheduling_wanted(order)};
}

LoadOrder load_order(const ProcessSetup& setup, const TrialOrder& order) {
  const LimitPlan& limits = setup.scenario.limits;
  const Duration counted = most_time(limits, {.messages = 1, .warmup = {}});
  const bool verifies = order.load_case.turn.unit == TurnUnit::transfers;  // a transfer, at its end
  return {.command = own_command(setup, load_words(setup.scenario, order.load_case, order.entry, setup.cpus,
                                                   "", "", PlanAs::document)),
          .time_to_connect =
              limits.trial_timeout.value_or(limits.connect_timeout.value_or(seconds(30)) + seconds(10)),
          .time_to_stop = setup.server_stop + (verifies ? counted : Duration{}),
          .time_beyond_turn = limits.request_timeout.value_or(seconds(5)) + seconds(10),
          .time_of_counted_turn = counted,
          .shows_scheduling = is_scheduling_wanted(order),
          .watched = pinned_cpus(setup.cpus, order.entry.in_process)};
}

}  // namespace joust::race
