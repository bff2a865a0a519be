// SPDX-License-Identifier: MIT
#include "race/scenario/cpu_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "measure/affinity.hpp"

namespace joust::race {
namespace {

std::string range_text(std::span<const int> cpus) {
  return cpus.empty() ? "any" : format_cpus(cpus);
}

std::uint64_t most_threads(const Scenario& scenario, EngineChoice Contestant::* side) {
  std::uint64_t most = 1;
  for (const Contestant& contestant : scenario.contestants) most = std::max(most, (contestant.*side).threads);
  return most;
}

// `allowed` without the CPUs in the other side's list.
std::vector<int> without(std::span<const int> allowed, const std::string& list) {
  std::vector<int> rest(allowed.begin(), allowed.end());
  if (const auto taken = list.empty() || list == "any" ? std::vector<int>{} : parse_cpus(list, allowed))
    std::erase_if(rest, [&](int cpu) { return std::ranges::count(*taken, cpu) != 0; });
  return rest;
}

}  // namespace

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

std::optional<std::string> check_cpus_exist(const CpuPlan& plan, std::span<const int> allowed) {
  for (const auto& [side, list] : {std::pair{"server", &plan.server}, std::pair{"client", &plan.client}}) {
    if (list->empty() || *list == "any") continue;
    if (const auto cpus = parse_cpus(*list, allowed); !cpus)
      return fmt::format("CPUs '{}' of the {}: {} (--{}-cpus)", *list, side, cpus.error(), side);
  }
  return std::nullopt;
}

CpuPlan choose_cpus(const Scenario& scenario, std::span<const int> allowed) {
  CpuPlan plan = scenario.cpus;
  if (allowed.size() < 2) {
    if (plan.server.empty()) plan.server = "any";
    if (plan.client.empty()) plan.client = "any";
    return plan;
  }
  if (plan.server.empty()) {
    const std::vector<int> free = without(allowed, plan.client);
    const std::size_t spare = plan.client.empty() ? 1 : 0;  // at least one for the client
    const auto wanted = static_cast<std::size_t>(most_threads(scenario, &Contestant::server));
    plan.server =
        range_text(std::span(free).first(std::min(wanted, free.size() - std::min(spare, free.size()))));
  }
  if (plan.client.empty()) {
    const std::vector<int> free = without(allowed, plan.server);
    const auto wanted = static_cast<std::size_t>(most_threads(scenario, &Contestant::client));
    plan.client = range_text(std::span(free).first(std::min(wanted, free.size())));
  }
  return plan;
}

}  // namespace joust::race
