// SPDX-License-Identifier: MIT
#include "race/set_up/cpu_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

}  // namespace joust::race
