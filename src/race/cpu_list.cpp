// SPDX-License-Identifier: MIT
#include "race/cpu_list.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "measure/affinity.hpp"

namespace joust::race {
namespace {

std::string range_text(std::span<const int> cpus) {
  return cpus.empty() ? "any" : format_cpus(cpus);
}

std::uint64_t most_threads(const Scenario& scenario, EngineChoice Contestant::*side) {
  std::uint64_t most = 1;
  for (const Contestant& contestant : scenario.contestants) most = std::max(most, (contestant.*side).threads);
  return most;
}

// `allowed` without the CPUs that the list of the other side names.
std::vector<int> without(std::span<const int> allowed, const std::string& list) {
  std::vector<int> rest(allowed.begin(), allowed.end());
  if (const auto taken = list.empty() || list == "any" ? std::vector<int>{} : parse_cpus(list, allowed))
    std::erase_if(rest, [&](int cpu) { return std::ranges::count(*taken, cpu) != 0; });
  return rest;
}

}  // namespace

std::size_t count_cpus(const std::string& list) {
  if (list.empty() || list == "any") return 0;
  std::size_t count = 0;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string part = list.substr(at, end - at);
    const std::size_t dash = part.find('-');
    count += dash == std::string::npos ? 1 : std::stoul(part.substr(dash + 1)) - std::stoul(part) + 1;
    at = end + 1;
  }
  return count;
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
