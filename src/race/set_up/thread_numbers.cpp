// SPDX-License-Identifier: MIT
#include "race/set_up/thread_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace joust::race {
namespace {

std::string engine_names(const Catalogue& catalogue, bool (*wanted)(const EngineRow&)) {
  std::vector<std::string> names;
  for (const EngineRow& engine : catalogue.engines)
    if (engine.serves && !engine.in_process && engine.unavailable.empty() && wanted(engine))
      names.push_back(engine.name);
  return names.empty() ? "none" : join(names);
}

// The thread numbers that replace those of the servers, and their source. Empty: nothing replaces them.
struct ServerThreads {
  std::string source{};
  std::vector<std::uint64_t> threads{};
  bool swept = false;
};

ServerThreads for_servers(const ThreadNumbers& given, const Scenario& scenario) {
  if (given.server) return {.source = "--threads", .threads = {*given.server}};
  ServerThreads all{.source = "a sweep over threads", .swept = true};
  for (const Case& one : scenario.cases) {
    if (!one.sweep || one.sweep->axis != "threads") continue;
    for (const double value : one.sweep->values) all.threads.push_back(static_cast<std::uint64_t>(value));
  }
  return all;
}

std::optional<std::string> thread_objection(const ServerThreads& replacement, const EngineRow& engine,
                                            const Catalogue& catalogue) {
  for (const std::uint64_t threads : replacement.threads)
    if (auto problem = check_thread_number(engine, threads, catalogue)) return problem;
  if (engine.several_loops || !replacement.swept || replacement.threads.empty()) return std::nullopt;
  return fmt::format(
      "the number means nothing to engine '{}', so all of its points would be the same; allowed: {}",
      engine.name, engine_names(catalogue, [](const EngineRow& row) { return row.several_loops; }));
}

}  // namespace

std::optional<std::string> check_thread_number(const EngineRow& engine, std::uint64_t threads,
                                               const Catalogue& catalogue) {
  auto problem = thread_number_objection(engine, threads);
  if (problem && threads == 0)
    *problem +=
        fmt::format(" (0, which means no workers, only for {})",
                    engine_names(catalogue, [](const EngineRow& row) { return row.least_threads == 0; }));
  return problem;
}

// Checks the numbers of threads. A contestant's name shows the threads that it was given with its engine, so
// nothing else may replace them.
std::optional<std::string> check_threads(const ThreadNumbers& given, const Scenario& scenario,
                                         const Catalogue& catalogue) {
  const ServerThreads replacement = for_servers(given, scenario);
  for (const Contestant& contestant : scenario.contestants) {
    if (!replacement.threads.empty() && contestant.server.threads_given)
      return fmt::format("{}: '{}' has a number of its own; allowed: one of them", replacement.source,
                         contestant.name);
    if (given.client && contestant.client.threads_given)
      return fmt::format("--client-threads: '{}' has a number of its own; allowed: one of them",
                         contestant.name);
    const EngineRow* const server = catalogue.engine(contestant.server.engine);
    if (contestant.external() || server == nullptr) continue;
    if (const auto problem = thread_objection(replacement, *server, catalogue))
      return fmt::format("{}: {}", replacement.source, *problem);
  }
  return std::nullopt;
}

std::vector<std::string> threads_remarks(const ThreadNumbers& given, const Scenario& scenario,
                                         const Catalogue& catalogue) {
  std::vector<std::string> remarks;
  std::set<std::string> said;
  for (const Contestant& contestant : scenario.contestants) {
    const EngineRow* const server = catalogue.engine(contestant.server.engine);
    if (contestant.external() || server == nullptr || server->several_loops) continue;
    if (given.server.value_or(1) > 1 && said.insert(server->name).second)
      remarks.push_back(fmt::format("--threads {} means nothing to '{}'", *given.server, server->name));
  }
  return remarks;
}

}  // namespace joust::race
