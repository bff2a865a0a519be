// SPDX-License-Identifier: MIT
#include "race/model/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

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

std::uint64_t room_for(const FilePlan& files) {
  constexpr std::uint64_t kSpareOfFile = 8 << 10;  // for blocks, names and folders
  return files.all_bytes() + files.count * kSpareOfFile;
}

namespace {

// The longest pause that is calculated with. No trial lasts so long, so longer pauses make no difference.
constexpr double kLongestPause_s = 1e6;

}  // namespace

LoadPlan standard_load() {
  return {.connections = 64, .duration = std::chrono::seconds(1), .warmup = std::chrono::milliseconds(300)};
}

Duration pause_of(const LoadPlan& load) {
  const std::chrono::duration<double> longest(kLongestPause_s);
  return std::chrono::round<Duration>(std::min<std::chrono::duration<double>>(load.mean_interval(), longest));
}

Duration longest_pause_of(const LoadPlan& load) {
  return load.has_poisson_arrivals() ? kLongestPoissonGap * pause_of(load) : pause_of(load);
}

bool Case::open_loop() const {
  return load.open_loop() || rate_share || !rates.empty() || (sweep && sweep->axis == "rate");
}

bool Case::is_near_capacity() const {
  if (!capacity || !load.open_loop()) return false;
  return rate_share.value_or(load.rate_per_s / capacity->per_s) > kMostInTurns;
}

LoadPlan Case::load_at_some_rate() const {
  LoadPlan some = load;
  if (open_loop() && !load.open_loop()) some.rate_per_s = static_cast<double>(load.connections);
  return some;
}

// A case that stands for one value of a sweep, or for one of several rates, has the name of the whole too.
bool Case::is_called(const std::string& name_of_case) const {
  return name_of_case == name || name_of_case == one_of || (point && name_of_case == point->of);
}

bool Contestant::takes_part_in(const Case& one) const {
  const auto is_one = [&](const std::string& each) { return one.is_called(each); };
  return transfer.empty() != one.files.has_value() && (cases.empty() || std::ranges::any_of(cases, is_one));
}

void replace(const SettingTexts& given, const std::vector<Rate>& rates, Case& one) {
  if (given.contains("rate") || given.contains("interval") || !rates.empty()) {
    one.rates = rates;
    one.rate_share.reset();
  }
  one.warmup_given |= given.contains("warmup");
  const bool is_rate_unknown = one.open_loop() && !given.contains("rate") && !one.load.open_loop();
  SettingTexts all = given;
  if (is_rate_unknown || !rates.empty())
    all["rate"] = "1";  // for the settings that have a meaning with a rate
  apply(all, one.load, standard_load());
  if (all.size() > given.size()) one.load.rate_per_s = 0;
}

Settings options_of(const Case& one, const EngineChoice& choice, Role role, const Catalogue& catalogue) {
  Settings options = choice.options;
  const ProtocolRow* protocol = catalogue.protocol(one.protocol);
  for (const auto& [name, value] : one.options)
    if (const ProtocolOption* option = protocol->option(name); option != nullptr && is_for(*option, role))
      options.emplace(name, value);
  return options;
}

}  // namespace joust::race
