// SPDX-License-Identifier: MIT
#include "measure/affinity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "measure/proc_file.hpp"

namespace joust {
namespace {

struct Range {
  int first, last;
};

std::optional<int> parse_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.starts_with('-')) return std::nullopt;
  return number;
}

// Reads a range: "3" or "0-2".
std::optional<Range> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return Range{*first, *last};
}

}  // namespace

#ifndef __APPLE__

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  checked(::sched_getaffinity(0, sizeof set, &set), "sched_getaffinity(0)");
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

CpuSet::CpuSet(std::span<const int> cpus) {
  CPU_ZERO(&set_);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set_);
}

int CpuSet::bind() const {
  return ::sched_setaffinity(0, sizeof set_, &set_);
}

#else

std::vector<int> allowed_cpus() {
  std::vector<int> cpus(std::max(1U, std::thread::hardware_concurrency()));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

CpuSet::CpuSet(std::span<const int> /*cpus*/) {}

int CpuSet::bind() const {
  errno = ENOTSUP;
  return -1;
}

#endif

std::expected<std::vector<int>, std::string> parse_cpus(std::string_view text,
                                                        std::span<const int> available) {
  std::vector<int> cpus;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const auto range = parse_range(rest.substr(0, comma));
    if (!range)
      return std::unexpected(
          fmt::format("'{}' is not a list of CPUs (write it like 0 or 0-1,3; there are: {})", text,
                      format_cpus(available)));
    for (int cpu = range->first; cpu <= range->last; ++cpu) {
      if (std::ranges::find(available, cpu) == available.end())
        return std::unexpected(
            fmt::format("there is no CPU {} to run on; there are: {}", cpu, format_cpus(available)));
      cpus.push_back(cpu);
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::ranges::sort(cpus);
  const auto repeated = std::ranges::unique(cpus);
  cpus.erase(repeated.begin(), repeated.end());
  return cpus;
}

std::string format_cpus(std::span<const int> cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
    if (last > i) text += fmt::format("-{}", cpus[last]);
    i = last + 1;
  }
  return text;
}

void pin_to(std::span<const int> cpus) {
  checked(CpuSet(cpus).bind(), "sched_setaffinity(0, {})", format_cpus(cpus));
}

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
