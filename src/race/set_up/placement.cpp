// SPDX-License-Identifier: MIT
#include "race/set_up/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "measure/affinity.hpp"

namespace joust::race {
std::set<int> cpus_in(const std::string& list) {
  std::set<int> cpus;
  if (list.empty() || list == "any") return cpus;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string part = list.substr(at, end - at);
    const std::size_t dash = part.find('-');
    const int last = std::stoi(dash == std::string::npos ? part : part.substr(dash + 1));
    for (int cpu = std::stoi(part); cpu <= last; ++cpu) cpus.insert(cpu);
    at = end + 1;
  }
  return cpus;
}

std::string cpus_text(const std::string& list) {
  return list == "any" ? "any CPU" : "CPU " + list;
}

std::optional<std::string> check_cpus_exist(const CpuPlan& plan, std::span<const int> allowed) {
  for (const auto& [side, list] : {std::pair{"server", &plan.server}, std::pair{"client", &plan.client}}) {
    if (list->empty() || *list == "any") continue;
    if (const auto cpus = parse_cpus(*list, allowed); !cpus)
      return fmt::format("CPUs '{}' of the {}: {} (--{}-cpus)", *list, side, cpus.error(), side);
  }
  return std::nullopt;
}

namespace {

std::string engine_names(const Catalogue& catalogue, bool (*wanted)(const Engine&)) {
  std::vector<std::string> names;
  for (const auto& [engine, unavailable] : catalogue.engines)
    if (engine->serves && !engine->in_process && unavailable.empty() && wanted(*engine))
      names.emplace_back(engine->name);
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

// Returns why an engine cannot have this number of threads; empty if it can.
std::optional<std::string> check_thread_number(const Engine& engine, std::uint64_t threads,
                                               const Catalogue& catalogue) {
  auto problem = thread_number_objection(engine, threads);
  if (problem && threads == 0)
    *problem +=
        fmt::format(" (0, which means no workers, only for {})",
                    engine_names(catalogue, [](const Engine& one) { return one.least_threads == 0; }));
  return problem;
}

std::optional<std::string> thread_objection(const ServerThreads& replacement, const Engine& engine,
                                            const Catalogue& catalogue) {
  for (const std::uint64_t threads : replacement.threads)
    if (auto problem = check_thread_number(engine, threads, catalogue)) return problem;
  if (engine.several_loops || !replacement.swept || replacement.threads.empty()) return std::nullopt;
  return fmt::format(
      "the number means nothing to engine '{}', so all of its points would be the same; allowed: {}",
      engine.name, engine_names(catalogue, [](const Engine& one) { return one.several_loops; }));
}

}  // namespace

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
    const Engine* const server = catalogue.engine(contestant.server.engine);
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
    const Engine* const server = catalogue.engine(contestant.server.engine);
    if (contestant.external() || server == nullptr || server->several_loops) continue;
    if (given.server.value_or(1) > 1 && said.insert(contestant.server.engine).second)
      remarks.push_back(fmt::format("--threads {} means nothing to '{}'", *given.server, server->name));
  }
  return remarks;
}

namespace {

// A core, or the part of it that may be used.
struct Core {
  int package, capacity;
  std::vector<int> cpus;
};
using Cores = std::vector<Core>;

Cores cores_of(std::span<const CpuPlace> places) {
  Cores cores;
  std::vector<int> numbers;
  for (const CpuPlace& place : places) {
    const auto known = std::ranges::find(numbers, place.core) - numbers.begin();
    if (known == std::ssize(numbers)) {
      numbers.push_back(place.core);
      cores.push_back({.package = place.package, .capacity = place.capacity, .cpus = {}});
    }
    cores[static_cast<std::size_t>(known)].cpus.push_back(place.cpu);
  }
  return cores;
}

Cores only(const Cores& cores, const std::function<bool(const Core&)>& wanted) {
  Cores some;
  std::ranges::copy_if(cores, std::back_inserter(some), wanted);
  return some;
}

// Returns the cores on which both sides run alike: one kind in one socket. The fastest kind comes first, then
// the socket with the most cores. Returns all cores if no such group has two.
Cores best_group(const Cores& cores) {
  Cores best;
  for (const Core& core : cores) {
    Cores group = only(cores, [&](const Core& other) {
      return other.package == core.package && other.capacity == core.capacity;
    });
    if (group.size() < 2) continue;
    if (best.empty() || core.capacity > best.front().capacity ||
        (core.capacity == best.front().capacity && group.size() > best.size()))
      best = std::move(group);
  }
  return best.empty() ? cores : best;
}

// Returns a CPU of each core for one side's loops. With more loops than cores, returns further hardware
// threads too.
std::vector<int> cpus_for(std::span<const Core> cores, std::size_t loops) {
  std::size_t threads = 0;
  for (const Core& core : cores) threads = std::max(threads, core.cpus.size());
  std::vector<int> cpus;
  for (std::size_t thread = 0; thread < threads; ++thread)
    for (const Core& core : cores)
      if (thread < core.cpus.size() && cpus.size() < loops) cpus.push_back(core.cpus[thread]);
  std::ranges::sort(cpus);
  return cpus;
}

struct Loops {
  std::size_t server, client;
};

// Divides at least two cores between the sides, and returns the CPUs of both.
std::pair<std::vector<int>, std::vector<int>> shared_out(std::span<const Core> cores, Loops loops) {
  std::size_t of_server = loops.server;
  if (cores.size() < loops.server + loops.client) {
    const double share = static_cast<double>(loops.server) / static_cast<double>(loops.server + loops.client);
    of_server = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::lround(share * static_cast<double>(cores.size()))), 1,
        cores.size() - 1);
  }
  const std::size_t of_client = std::min(loops.client, cores.size() - of_server);
  return {cpus_for(cores.first(of_server), loops.server),
          cpus_for(cores.subspan(of_server, of_client), loops.client)};
}

// Returns the CPUs of a side beside `taken`, the CPUs of the other side. They are on other cores, of the same
// kind and socket if possible.
std::vector<int> cpus_beside(const std::set<int>& taken, const Cores& cores, std::size_t loops) {
  const auto is_taken = [&](int cpu) { return taken.contains(cpu); };
  const auto shared = [&](const Core& core) { return std::ranges::any_of(core.cpus, is_taken); };
  const Cores used = only(cores, shared), unused = only(cores, std::not_fn(shared));
  if (unused.empty()) {
    std::vector<int> siblings;
    for (const Core& core : used)
      std::ranges::copy_if(core.cpus, std::back_inserter(siblings), std::not_fn(is_taken));
    siblings.resize(std::min(loops, siblings.size()));
    return siblings;
  }
  const auto like = [&](bool package, bool kind) {
    return only(unused, [&](const Core& core) {
      return std::ranges::any_of(used, [&](const Core& other) {
        return (!package || other.package == core.package) && (!kind || other.capacity == core.capacity);
      });
    });
  };
  for (const Cores& group : {like(true, true), like(true, false), like(false, true), best_group(unused)})
    if (!group.empty()) return cpus_for(std::span(group).first(std::min(loops, group.size())), loops);
  return {};
}

std::string list_or_any(const std::vector<int>& cpus) {
  return cpus.empty() ? "any" : format_cpus(cpus);
}

// The cores, sockets and kinds of core that a side uses.
struct CpusUsed {
  std::set<int> cores, packages, kinds;
};

CpusUsed cpus_used_by(const std::string& list, std::span<const CpuPlace> allowed) {
  const std::set<int> cpus = cpus_in(list);
  CpusUsed used;
  for (const CpuPlace& place : allowed) {
    if (!cpus.contains(place.cpu)) continue;
    used.cores.insert(place.core);
    used.packages.insert(place.package);
    used.kinds.insert(place.capacity);
  }
  return used;
}

bool is_one(std::set<int> some, const std::set<int>& others) {
  some.insert(others.begin(), others.end());
  return some.size() <= 1;
}

// Describes why server and client do not run under equal conditions. CPUs that both use are reported by check
// 7.
std::vector<std::string> remarks_on(const CpuPlan& plan, std::span<const CpuPlace> allowed) {
  const std::string where =
      fmt::format("server ({}) and client ({})", cpus_text(plan.server), cpus_text(plan.client));
  const CpusUsed server = cpus_used_by(plan.server, allowed), client = cpus_used_by(plan.client, allowed);
  const std::set<int> cpus = cpus_in(plan.server);
  const bool overlap = std::ranges::any_of(cpus_in(plan.client), [&](int cpu) { return cpus.contains(cpu); });
  std::vector<std::string> remarks;
  if (!overlap && std::ranges::any_of(server.cores, [&](int core) { return client.cores.contains(core); }))
    remarks.push_back(where + " are hardware threads of one core: each slows the other");
  if (!is_one(server.packages, client.packages))
    remarks.push_back(where + " are on different sockets: every message goes from one to the other");
  if (!is_one(server.kinds, client.kinds)) remarks.push_back(where + " are on cores of different speed");
  return remarks;
}

}  // namespace

std::uint64_t most_loops(const Scenario& scenario, EngineChoice Contestant::*side) {
  std::uint64_t most = 1;
  for (const Contestant& contestant : scenario.contestants) most = std::max(most, (contestant.*side).threads);
  if (side == &Contestant::server)
    for (const Case& one : scenario.cases) most = std::max(most, one.server_threads.value_or(1));
  return most;
}

void choose_client_threads(Scenario& scenario, const Catalogue& catalogue, std::span<const CpuPlace> allowed,
                           std::size_t servers) {
  constexpr std::size_t kForEachOfServer = 2;  // verifying replies costs more than making them
  const std::size_t of_servers = most_loops(scenario, &Contestant::server);
  const std::size_t cores = best_group(cores_of(allowed)).size();
  std::size_t free = cores - std::min(cores, servers);
  if (!scenario.cpus.client.empty()) free = cpus_in(scenario.cpus.client).size();
  std::size_t loops = std::min(free, kForEachOfServer * of_servers);
  for (const Case& one : scenario.cases) loops = std::min<std::size_t>(loops, one.load.connections);
  for (Contestant& contestant : scenario.contestants) {
    const Engine* const engine = catalogue.engine(contestant.client.engine);
    if (loops > 1 && !contestant.client.threads_given && engine != nullptr && engine->several_loops)
      contestant.client.threads = loops;
  }
}

std::string choose_cpus_alone(const std::string& given, std::size_t loops,
                              std::span<const CpuPlace> allowed) {
  if (!given.empty()) return given;
  const Cores cores = best_group(cores_of(allowed));
  return list_or_any(cpus_for(std::span(cores).first(std::min(loops, cores.size())), loops));
}

CpuPlan choose_cpus(const Scenario& scenario, std::span<const CpuPlace> allowed) {
  CpuPlan plan = scenario.cpus;
  const Cores cores = cores_of(allowed);
  const Loops loops{most_loops(scenario, &Contestant::server), most_loops(scenario, &Contestant::client)};
  const bool both = plan.server.empty() && plan.client.empty();
  if (both && cores.size() > 1) {
    const auto [server, client] = shared_out(best_group(cores), loops);
    plan.server = format_cpus(server);
    plan.client = format_cpus(client);
  } else if (both && allowed.size() > 1) {
    plan.server = fmt::format("{}", allowed[0].cpu);
    plan.client = fmt::format("{}", allowed[1].cpu);
  }
  const bool alone = allowed.size() < 2;
  if (plan.server.empty())
    plan.server = alone ? "any" : list_or_any(cpus_beside(cpus_in(plan.client), cores, loops.server));
  if (plan.client.empty())
    plan.client = alone ? "any" : list_or_any(cpus_beside(cpus_in(plan.server), cores, loops.client));
  plan.remarks = remarks_on(plan, allowed);
  return plan;
}

}  // namespace joust::race
