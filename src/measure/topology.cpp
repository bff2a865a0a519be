// SPDX-License-Identifier: MIT
#include "measure/topology.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "measure/proc_file.hpp"

namespace joust {
namespace {

// Returns the first number of a file, such as "1024" or "0,32". Returns nothing for -1, the answer of
// firmware without data about sockets.
std::optional<int> first_number(const std::string& path) {
  const auto text = read_proc_file(path);
  if (!text || text->empty() || text->front() < '0' || text->front() > '9') return std::nullopt;
  return static_cast<int>(leading_number(*text));
}

}  // namespace

std::vector<CpuPlace> read_topology(std::span<const int> cpus, const std::string& root) {
  std::map<std::pair<int, int>, int> first_of_core;  // by package and core_id
  std::vector<CpuPlace> places;
  for (const int cpu : cpus) {
    const std::string folder = fmt::format("{}sys/devices/system/cpu/cpu{}/", root, cpu);
    CpuPlace place{.cpu = cpu, .core = cpu};
    place.package = first_number(folder + "topology/physical_package_id").value_or(0);
    place.capacity = first_number(folder + "cpu_capacity").value_or(0);
    if (const auto sibling = first_number(folder + "topology/thread_siblings_list"))
      place.core = *sibling;
    else if (const auto core = first_number(folder + "topology/core_id"))
      place.core = first_of_core.try_emplace({place.package, *core}, cpu).first->second;
    places.push_back(place);
  }
  return places;
}

}  // namespace joust
