// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <stdexcept>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/judgement/judge.hpp"
#include "race/run/race.hpp"
#include "race/scenario/overrides.hpp"

namespace joust::report {

// Races that were never run, always the same, to print.
inline race::RaceResult judged(const race::Scenario& scenario, race::FakeRunner& runner) {
  race::RaceObserver observer;
  const Stop stop;
  race::RaceResult result =
      run_race(scenario, make_plan(scenario, race::fake_catalogue(), 4711), runner, observer, stop);
  result.version = "0.1.0";
  result.environment.items = {{"kernel", "6.1.0", true}, {"cpu_model", "Invented CPU", true}};
  result.cpus = {.server = "0", .client = "1"};
  judge(result);
  return result;
}

inline race::RaceResult plain_race() {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll", "io-uring"}, 10);
  scenario.title = "First look";
  race::FakeRunner runner;
  runner.throughput = {{"threads", 67.9e3}, {"epoll", 68e3}, {"io-uring", 106e3}};
  return judged(scenario, runner);
}

// Throughput is given, and latency is ranked. io-uring is the fastest.
inline race::RaceResult open_race() {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll", "io-uring"}, 10);
  scenario.cases.front().load.rate_per_s = 5000;
  scenario.cases.front().load.arrivals = LoadPlan::Arrivals::poisson;
  race::FakeRunner runner;
  runner.throughput = {{"threads", 67.9e3}, {"epoll", 68e3}, {"io-uring", 106e3}};
  return judged(scenario, runner);
}

// Messages may be lost on threads and epoll, and are on epoll.
inline race::RaceResult lossy_race(double rate_per_s = 0) {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll", "io-uring"}, 10);
  if (rate_per_s > 0) scenario.cases.front().load.rate_per_s = rate_per_s;
  race::FakeRunner runner;
  runner.throughput = {{"threads", 67.9e3}, {"epoll", 98e3}, {"io-uring", 106e3}};
  runner.alter = [](const race::TrialOrder& order, std::size_t nth, race::Trial& trial) {
    const std::string& name = order.entry.contestant.name;
    if (name.starts_with("threads")) race::make_lossy(trial, 0);
    if (name == "epoll") race::make_lossy(trial, nth == 4 ? 3100 : 0);
  };
  return judged(scenario, runner);
}

// Four numbers of connections: threads is the faster one with few, io-uring was the load's limit once, and
// epoll failed with the most.
inline race::RaceResult swept_race(const char* sweep = "connections=1..1000x10") {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll", "io-uring"}, 3);
  scenario.quick = true;
  race::Overrides given;
  given.sweep = sweep;
  const auto applied = race::apply(given, scenario, race::fake_catalogue());
  if (!applied) throw std::logic_error(applied.error());
  race::FakeRunner runner;
  runner.throughput = {{"threads", 60e3}, {"epoll", 60e3}, {"io-uring", 60e3}};
  runner.alter = [](const race::TrialOrder& order, std::size_t, race::Trial& trial) {
    const std::string& name = order.entry.contestant.name;
    const auto connections = static_cast<double>(order.load_case.load.connections);
    if (!trial.server.usage) return;
    const double speed =
        name.starts_with("threads") ? 1 - std::log10(connections) / 5 : 0.5 + std::log10(connections) / 6;
    trial = race::flawless_trial(order, 60e3 * (name == "io-uring" ? 1.1 : 1) * speed);
    if (name == "io-uring" && connections == 100) trial.load->set_usage({.user_s = 0.5, .system_s = 0.49});
    if (name == "io-uring" && connections == 100) trial.server.usage = Usage{.user_s = 0.2, .system_s = 0.5};
    if (name == "epoll" && connections == 1000) {
      trial.load.reset();
      trial.failure = "the server was ended by signal 11 (Segmentation fault)";
    }
  };
  return judged(scenario, runner);
}

// Everything that can go wrong and still be shown.
inline race::RaceResult troubled_race() {
  race::Scenario scenario = race::fake_scenario({"threads", "epoll", "io-uring", "broken"}, 3);
  scenario.quick = true;
  scenario.cases.front().name = "as published";
  scenario.cases.front().title = "10 ms apart";
  scenario.cases.front().load.interval = std::chrono::milliseconds(10);
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "no pause";
  scenario.cases.back().load.interval = Duration(0);
  scenario.contestants.push_back({.name = "a server of somebody else",
                                  .server = {},
                                  .command = "other --port {port}",
                                  .client = {.engine = "epoll"}});
  race::FakeRunner runner;
  runner.throughput = {
      {"threads", 24e3}, {"epoll", 25.4e3}, {"io-uring", 25.5e3}, {"a server of somebody else", 9e3}};
  runner.alter = [](const race::TrialOrder& order, std::size_t, race::Trial& trial) {
    if (order.load_case.name != "no pause") return;
    if (order.entry.contestant.name == "io-uring") {
      trial.load.reset();
      trial.failure = "the server was ended by signal 11 (Segmentation fault)";
      trial.last_words = {"joust: io_uring_enter: Bad address", "giving up"};
    }
    if (trial.machine) trial.machine->steal_s = trial.machine->total_s() * 0.08 / 0.92;
    if (order.count_calls) {
      trial.server_calls = trial.client_calls = std::nullopt;
      trial.calls_reason =
          "counting needs root or CAP_PERFMON, or kernel.perf_event_paranoid of at most 1 (it is 3)";
    }
  };
  return judged(scenario, runner);
}

}  // namespace joust::report
