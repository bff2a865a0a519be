// SPDX-License-Identifier: MIT
#include "race/scenario/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "race/scenario/scenario.hpp"

namespace joust::race {

std::span<const std::string> file_places() {
  static const std::array<std::string, 2> kWords{"memory", "disk"};
  return kWords;
}

// The disk's folder is not /tmp, which is in memory on many systems.
std::string folder_of(const FilePlan& files) {
  return files.on == "memory" ? "/dev/shm" : "/var/tmp";
}

std::string files_text(const FilePlan& files) {
  return fmt::format("{} of {}{}, {} ({})", counted(files.count, "file"), format_size(files.bytes),
                     files.count == 1 ? "" : " each", files.on == "memory" ? "in memory" : "on the disk",
                     folder_of(files));
}

namespace {

// A case that stands for one value of a sweep, or for one of several rates, has the name of the whole too.
bool is_called(const Case& one, const std::string& name) {
  return name == one.name || name == one.one_of || (one.point && name == one.point->of);
}

}  // namespace

bool Contestant::takes_part_in(const Case& one) const {
  const auto is_one = [&](const std::string& each) { return is_called(one, each); };
  return transfer.empty() != one.files.has_value() && (cases.empty() || std::ranges::any_of(cases, is_one));
}

std::uint64_t room_for(const FilePlan& files) {
  constexpr std::uint64_t kSpareOfFile = 8 << 10;  // for blocks, names and folders
  return files.all_bytes() + files.count * kSpareOfFile;
}

std::uint64_t room_beside(const Scenario& scenario, const FilePlan& files,
                          const std::function<bool(const FilePlan&)>& fits) {
  std::set<FilePlan> others;
  for (const Case& one : scenario.cases)
    if (one.files && *one.files != files && one.files->on == files.on) others.insert(*one.files);
  std::uint64_t bytes = 0;
  for (const FilePlan& other : others)
    if (fits(other)) bytes += room_for(other);
  return bytes;
}

std::optional<std::string> check_files(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Case& one : scenario.cases) names.push_back(one.name);
  for (const Contestant& contestant : scenario.contestants) {
    for (const std::string& name : contestant.cases)
      if (std::ranges::none_of(scenario.cases, [&](const Case& one) { return is_called(one, name); }))
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
      return fmt::format("case '{}': it has no contestant; allowed: contestants with {}", one.name,
                         one.files ? "a transfer" : "a server");
  return std::nullopt;
}

}  // namespace joust::race
