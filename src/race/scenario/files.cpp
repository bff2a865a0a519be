// SPDX-License-Identifier: MIT
#include "race/scenario/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "race/scenario/scenario.hpp"

namespace joust::race {

std::span<const std::string> file_places() {
  static const std::array<std::string, 2> kWords{"memory", "disk"};
  return kWords;
}

// Not /tmp, which is in memory on many systems.
std::string folder_of(const FilePlan& files) {
  return files.on == "memory" ? "/dev/shm" : "/var/tmp";
}

std::string files_text(const FilePlan& files) {
  return fmt::format("{} of {}{}, {} ({})", counted(files.count, "file"),
                     format_bytes(static_cast<double>(files.bytes)), files.count == 1 ? "" : " each",
                     files.on == "memory" ? "in memory" : "on the disk", folder_of(files));
}

bool Contestant::takes_part_in(const Case& one) const {
  return transfer.empty() != one.files.has_value() &&
         (cases.empty() || std::ranges::count(cases, one.name) != 0);
}

std::optional<std::string> check_files(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Case& one : scenario.cases) names.push_back(one.name);
  for (const Contestant& contestant : scenario.contestants) {
    for (const std::string& name : contestant.cases)
      if (std::ranges::count(names, name) == 0)
        return not_allowed(fmt::format("'{}' takes part in '{}', which is no case", contestant.name, name),
                           name, names);
    const auto meets = [&](const Case& one) { return contestant.takes_part_in(one); };
    if (std::ranges::none_of(scenario.cases, meets))
      return fmt::format(
          "'{}' takes part in no case; allowed: {}", contestant.name,
          contestant.transfer.empty() ? "a transfer, for cases with files" : "a case with files = { ... }");
  }
  for (const Case& one : scenario.cases)
    if (std::ranges::none_of(scenario.contestants,
                             [&](const Contestant& contestant) { return contestant.takes_part_in(one); }))
      return fmt::format("case '{}': nobody takes part; allowed: contestants with {}", one.name,
                         one.files ? "a transfer" : "a server");
  return std::nullopt;
}

}  // namespace joust::race
