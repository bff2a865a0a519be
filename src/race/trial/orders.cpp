// SPDX-License-Identifier: MIT
#include "race/trial/orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "joust/limits.hpp"
#include "load/settings.hpp"
#include "race/scenario/engine_choice.hpp"
#include "race/scenario/race_settings.hpp"
#include "race/set_up/placement.hpp"
#include "race/set_up/rates.hpp"

namespace joust::race {
namespace {

void add(Words& words, std::string_view flag, std::string value) {
  words.emplace_back(flag);
  words.push_back(std::move(value));
}

void add(Words& words, std::string_view flag, const std::optional<Duration>& value) {
  if (value) add(words, flag, duration_word(*value));
}

void add_engine(Words& words, const EngineChoice& choice, const std::string& cpus) {
  add(words, "-t", fmt::format("{}", choice.threads));
  add(words, "--wait", choice.wait);
  for (const auto& [knob, value] : choice.knobs) add(words, "--" + knob, value);
  if (!cpus.empty() && cpus != "any") add(words, "--cpus", cpus);
}

void add_options(Words& words, const Settings& options) {
  for (const auto& [name, value] : options) add(words, "--" + name, value);
}

// Adds the socket options. Common options of TCP are left out where sockets are of another kind. An option
// that is meant for one engine alone is passed on, and the engine refuses it.
void add_socket(Words& words, SocketPlan socket, const EngineChoice& choice, bool tcp) {
  if (choice.nodelay || !tcp) socket.nodelay = choice.nodelay;
  if (!tcp) socket.congestion.reset();
  const SocketPlan standard;
  for (std::string& word : setting_flags(socket_settings(), &socket, &standard))
    words.push_back(std::move(word));
}

// The server's limit for idle connections. It must not end a connection in the pause between two messages, so
// pauses are added to it, unless they are far shorter. (The load adds them by itself.) While others take
// their turns, a contestant is stopped, and its clock is not: that time is added too.
std::optional<Duration> server_idle(const LimitPlan& limits, const Case& one) {
  const Duration limit = limits.idle_timeout.value_or(Limits{}.idle);
  const Duration pause = longest_pause_of(one.load);
  if (one.load.turns) return limit + one.turn.rest + pause;
  return 2 * pause < limit ? limits.idle_timeout : limit + pause;
}

std::string protocol_word(const Case& one) {
  return one.plugin.empty() ? one.protocol : one.plugin;
}

// Adds the load. A child with turns gets no duration or number of messages. In process no connection can be
// lost or ended, so none is dialled again.
void add_load(Words& words, const Case& one, const Entry& entry, const LimitPlan& limits, PlanAs how) {
  LoadPlan load = one.load;
  load.request_timeout = limits.request_timeout;
  if (!load.has_poisson_arrivals()) load.seed = LoadPlan().seed;
  if (load.turns) {
    load.messages.reset();
    load.duration = LoadPlan().duration;
    load.warmup = {};
  }
  if (entry.in_process) {
    apply({{"reconnect", "never"}}, load, LoadPlan());
    load.messages_per_connection.reset();
  }
  if (how == PlanAs::document) return add(words, "--plan", passed_plan_json(load).dump());
  for (std::string& word : load_flags(load, LoadPlan())) words.push_back(std::move(word));
  // Passes a rate that is a share of a capacity not known yet.
  if (one.rate_share && !load.open_loop()) add(words, "-R", rate_word({.share = one.rate_share}));
}

}  // namespace

Words serve_words(const Scenario& scenario, const Case& one, const Entry& entry, const CpuPlan& cpus) {
  const EngineChoice& server = entry.contestant.server;
  Words words{"serve", "-e", server.engine, "-p", protocol_word(one), "--listen", entry.listen};
  add_options(words, entry.server_options);
  add_engine(words, server, cpus.server);
  add_socket(words, one.socket, server, entry.server_tcp);
  add(words, "--idle-timeout", server_idle(scenario.limits, one));
  if (one.load.connections >= Limits{}.connections)
    add(words, "--max-connections", fmt::format("{}", one.load.connections + 1));
  return words;
}

Words load_words(const Scenario& scenario, const Case& one, const Entry& entry, const CpuPlan& cpus,
                 const std::string& address, const std::string& result, PlanAs how) {
  const EngineChoice& client = entry.contestant.client;
  Words words{"load", "-e", client.engine, "-p", protocol_word(one)};
  if (!entry.in_process && !address.empty()) add(words, "--connect", address);
  if (one.load.turns) words.emplace_back(one.load.counted_turns ? "--counted-turns" : "--turns");
  if (one.load.turns && one.turn.ramp > Duration{}) add(words, "--ramp", one.turn.ramp);
  add_load(words, one, entry, scenario.limits, how);
  add_options(words, entry.client_options);
  add_engine(words, client, cpus.client);
  SocketPlan socket = one.socket;
  socket.backlog.reset();  // of listeners
  if (!entry.in_process) add_socket(words, std::move(socket), client, entry.client_tcp);
  add(words, "--connect-timeout", scenario.limits.connect_timeout);
  add(words, "--idle-timeout",
      one.load.turns ? server_idle(scenario.limits, one) : scenario.limits.idle_timeout);
  words.emplace_back("--events");
  if (!result.empty()) add(words, "--json", result);
  return words;
}

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
