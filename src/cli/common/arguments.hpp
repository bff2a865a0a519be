// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/settings.hpp"
#include "cli/common/command.hpp"
#include "joust/load_plan.hpp"
#include "joust/time.hpp"

// Options with values of a kind: with units, and those of the rows of settings.
namespace joust {
namespace race {
struct Scenario;  // race/model/scenario.hpp
}

inline constexpr Duration kLongestTime = std::chrono::hours(24);

// Add options whose values have units: "10k", "64KiB", "10ms". A value that does not fit is a usage error.
Option add_count(Command command, const std::string& flags, std::uint64_t& into, const std::string& help,
                 std::uint64_t least = 1, std::uint64_t most = 1'000'000'000);
Option add_bytes(Command command, const std::string& flags, std::uint64_t& into, const std::string& help,
                 std::uint64_t least = 0, std::uint64_t most = 1U << 30);
Option add_duration(Command command, const std::string& flags, Duration& into, const std::string& help,
                    Duration least = {}, Duration most = kLongestTime);

// Adds --max-memory of servers: Limits::memory.
void add_memory_limit(Command command, std::optional<std::uint64_t>& into);

// The flags of settings, one for each row. After parsing, `given` has the texts of those that are given.
struct SettingArguments {
  SettingTexts given{};

  bool has(std::string_view key) const { return given.contains(key); }

  // Adds the flags of a load. `standard` has the defaults that --help shows. A race has only the flags of
  // settings that scenarios have too.
  void add_load(Command command, const LoadPlan& standard, bool of_race, const std::string& group = {});
  // Adds the flag of one of a race's own settings below the heading of its row. What fractions and texts may
  // be is checked when all flags are known.
  void add_own(Command command, const Setting& row, const race::Scenario& standard);

 private:
  // Returns what is wrong with a text; empty: nothing.
  using Check = std::string (*)(const Setting&, const std::string& text);
  Option add(Command command, const Setting& row, const std::string& help, Check check);
};

}  // namespace joust
