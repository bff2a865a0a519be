// SPDX-License-Identifier: MIT
#include "load/merging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <concepts>
#include <string_view>
#include <type_traits>

#include "base/document.hpp"
#include "load/settings.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostTexts = 8;  // of each part; the parts are few

// The members of which the greatest is that of the whole. Most others are added.
constexpr std::string_view kGreatest[] = {"oldest_open_ns", "duration_s", "over_s"};

void add(std::vector<std::string>& sum, const std::vector<std::string>& more) {
  for (std::size_t i = 0; i < std::min(more.size(), kMostTexts); ++i)
    if (std::ranges::find(sum, more[i]) == sum.end()) sum.push_back(more[i]);
}

void add(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& more) {
  sum.resize(std::max(sum.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

void add(decltype(LoadResult::errors)& sum, const decltype(LoadResult::errors)& more) {
  for (std::size_t stage = 0; stage < kStages; ++stage) sum[stage] += more[stage];
}

// Keeps the counts of all parts that have them.
void add(std::vector<ResultGroup>& sum, const std::vector<ResultGroup>& more) {
  for (const ResultGroup& group : more) {
    auto into = std::ranges::find(sum, group.name, &ResultGroup::name);
    if (into == sum.end()) into = sum.insert(sum.end(), ResultGroup{.name = group.name, .figures = {}});
    for (const auto& [name, figure] : group.figures) {
      const auto* count = std::get_if<std::uint64_t>(&figure);
      if (count == nullptr) continue;
      const auto known =
          std::ranges::find_if(into->figures, [&](const auto& one) { return one.first == name; });
      if (known == into->figures.end())
        into->figures.emplace_back(name, *count);
      else
        known->second = std::get<std::uint64_t>(known->second) + *count;
    }
  }
}

// The window is that of the first part that has one.
void add(std::optional<LoadResult::Window>& sum, const std::optional<LoadResult::Window>& more) {
  if (!sum) sum = more;
}

void add(LoadPlan& sum, const LoadPlan& more) {
  sum.connections += more.connections;
  sum.rate_per_s += more.rate_per_s;
}

void add(Distribution& sum, const Distribution& more) {
  sum.merge(more);
}

void add(bool& sum, bool more) {
  sum |= more;
}

template <typename T>
void add_member(std::string_view name, T& sum, const T& more) {
  if constexpr (std::same_as<T, Duration> || (std::is_arithmetic_v<T> && !std::same_as<T, bool>)) {
    sum = std::ranges::count(kGreatest, name) > 0 ? std::max(sum, more) : sum + more;
  } else if constexpr (requires { add(sum, more); }) {
    add(sum, more);
  } else if constexpr (documents::kIsRare<T>) {
    if (more && sum) add_member(name, *sum, *more);
    if (more && !sum) sum = more;
  } else {
    each_field_of(sum, more, [](std::string_view key, auto& to, const auto& from) {
      add_member<std::remove_cvref_t<decltype(to)>>(key, to, from);
    });
  }
}

}  // namespace

LoadResult merged(std::span<const LoadPart> parts) {
  assert(!parts.empty());
  LoadResult sum;
  sum.plan = parts.front().result.plan;
  sum.plan.connections = 0;
  sum.plan.rate_per_s = 0;
  for (const LoadPart& part : parts) {
    LoadResult more = part.result;
    if (!part.name.empty())
      for (std::string& text : more.messages_of_errors) text = part.name + ": " + text;
    add_member("", sum, more);
  }
  sum.throughput_per_s = sum.rate_s() > 0 ? static_cast<double>(sum.messages.verified) / sum.rate_s() : 0;
  return sum;
}

std::string why_no_parts(const LoadPart& one, const LoadPart& other) {
  for (const LoadSetting& setting : load_settings()) {
    if (setting.key == "connections" || setting.key == "rate" || setting.key == "seed") continue;
    const std::string here = setting_text(setting, one.result.plan),
                      there = setting_text(setting, other.result.plan);
    if (here != there)
      return fmt::format("{} is {} in {} and {} in {}", setting.key, here.empty() ? "not set" : here,
                         one.name, there.empty() ? "not set" : there, other.name);
  }
  if (one.result.plan.open_loop() != other.result.plan.open_loop())
    return fmt::format("only one of {} and {} has a rate", one.name, other.name);
  return {};
}

}  // namespace joust
