// SPDX-License-Identifier: MIT
#include "load/result_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/document.hpp"
#include "load/percentiles.hpp"
#include "load/settings.hpp"
#include "measure/histogram.hpp"

namespace joust {

std::string buckets_key(std::string_view figures_key) {
  constexpr std::string_view kLatency = "latency_ns", kUnit = "ns";
  figures_key.remove_suffix(figures_key.ends_with(kLatency) ? kLatency.size() : kUnit.size());
  return std::string(figures_key) + "histogram_ns";
}

namespace {

using Json = nlohmann::ordered_json;

// The figures that the buckets do not tell.
struct Exact {
  double mean = 0;
  std::uint64_t min = 0, max = 0;
};

Percentiles percentiles_of(const Distribution& values) {
  return {.mean = values.mean(),
          .min = values.min(),
          .p50 = values.percentile(0.5),
          .p75 = values.percentile(0.75),
          .p90 = values.percentile(0.9),
          .p95 = values.percentile(0.95),
          .p99 = values.percentile(0.99),
          .p999 = values.percentile(0.999),
          .p9999 = values.percentile(0.9999),
          .max = values.max(),
          .samples = values.count()};
}

Buckets buckets_of(const Distribution& values) {
  Buckets buckets;
  for (const Distribution::Bucket& bucket : values.buckets())
    buckets.push_back({std::min(bucket.high_ns, values.max()), bucket.count});
  return buckets;
}

constexpr const char* kBuckets[] = {"histogram_ns", "uncorrected_histogram_ns", "send_lateness_histogram_ns"};

// The members of the document of a load of several hosts that are of none of the structs.
constexpr std::string_view kOfHosts[] = {"hosts", "start_spread_ns"};

template <typename... Structs>
bool is_member_of(std::string_view key) {
  return (... || (std::ranges::count(kFieldNames<Structs>, key) > 0));
}

bool is_figure_of_result(std::string_view key) {
  return std::ranges::count(kBuckets, key) > 0 || (key != "plan" && is_member_of<LoadResult>(key));
}

bool is_group(std::string_view key) {
  return !is_figure_of_result(key) && !is_member_of<LoadResult, LoadProgram, LoadChoices>(key) &&
         std::ranges::count(kOfHosts, key) == 0;
}

ResultGroup::Figure figure_from(const Json& value, const std::string& way) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) documents::refuse_value(way, value, "a number or a string");
  return value.get<std::string>();
}

}  // namespace

namespace documents {

template <>
struct Form<Time> {
  static std::int64_t of(Time time) { return time.time_since_epoch() / Duration(1); }
  static Time from(std::int64_t ns, const std::string& /*way*/) { return Time(Duration(ns)); }
};

template <>
struct Form<Duration> {
  static std::int64_t of(Duration time) { return time.count(); }
  static Duration from(std::int64_t ns, const std::string& /*way*/) { return Duration(ns); }
};

template <>
struct Form<LoadPlan> {
  static Json of(const LoadPlan& plan) { return plan_json(plan); }
  static LoadPlan from(const Json& document, const std::string& way) {
    auto plan = plan_from(document.dump());
    if (!plan) throw WrongDocument(fmt::format("{}: {}", way, plan.error()));
    return *plan;
  }
};

// Failures by stage, without stages that have none.
template <>
struct Form<decltype(LoadResult::errors)> {
  using Counts = nlohmann::ordered_map<std::string, std::uint64_t>;

  static Counts of(const decltype(LoadResult::errors)& errors) {
    Counts counts;
    for (std::size_t stage = 0; stage < kStages; ++stage)
      if (errors[stage] > 0) counts[std::string(stage_name(static_cast<Stage>(stage)))] = errors[stage];
    return counts;
  }
  static decltype(LoadResult::errors) from(const Counts& counts, const std::string& way) {
    decltype(LoadResult::errors) errors{};
    for (const auto& [name, count] : counts) {
      std::size_t stage = 0;
      while (stage < kStages && stage_name(static_cast<Stage>(stage)) != name) ++stage;
      if (stage == kStages) throw WrongDocument(fmt::format("{}: '{}' is no stage", way, name));
      errors[stage] = count;
    }
    return errors;
  }
};

// The figures, and the buckets under a key of their own.
template <>
struct Form<Distribution> {
  static void add(Json& object, std::string_view name, const Distribution& values) {
    object[std::string(name)] = to_document(percentiles_of(values));
    object[buckets_key(name)] = to_document(buckets_of(values));
  }

  // The sum is that of the mean. It is exact up to 2^52 ns, 52 days of latencies together.
  static void take(const Json& object, const std::string& way, std::string_view name, Distribution& values) {
    const auto member = [&](const std::string& key, auto value) {
      if (!object.contains(key)) refuse(way_below(way, key), "missing", "there");
      read(object.at(key), way_below(way, key), value);
      return value;
    };
    const auto exact = member(std::string(name), Exact{});
    const std::string key = buckets_key(name);
    std::vector<Distribution::Bucket> buckets;
    std::uint64_t count = 0;
    for (const auto& bucket : member(key, Buckets{})) {
      if (bucket.size() != 2) refuse(way_below(way, key), "a list", "pairs of a value and a count");
      buckets.push_back(Histogram::bucket_with(bucket[0], bucket[1]));
      count += bucket[1];
    }
    const double sum_ns = exact.mean * static_cast<double>(count);
    values = Distribution(std::move(buckets), exact.min, exact.max,
                          static_cast<std::uint64_t>(std::llround(sum_ns)));
  }
};

// An object for each group.
template <>
struct Form<std::vector<ResultGroup>> {
  static void add(Json& object, std::string_view /*name*/, const std::vector<ResultGroup>& groups) {
    add_groups(object, groups);
  }
  static void take(const Json& object, const std::string& way, std::string_view /*name*/,
                   std::vector<ResultGroup>& groups) {
    groups.clear();
    for (const auto& [key, value] : object.items()) {
      if (!is_group(key)) continue;
      ResultGroup& group = groups.emplace_back(ResultGroup{.name = key, .figures = {}});
      if (!value.is_object()) refuse_value(way_below(way, key), value, "an object");
      for (const auto& [name, figure] : value.items())
        group.figures.emplace_back(name, figure_from(figure, way_below(way_below(way, key), name)));
    }
  }
};

}  // namespace documents

namespace {

// Throws WrongDocument for a number that no load has: whoever adds results would make nonsense of it.
void check_numbers(const std::string& way, const Json& value) {
  constexpr double kMost = 1e18;
  for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
    check_numbers(documents::way_below(way, i), value[i]);
  if (value.is_object())
    for (const auto& [name, member] : value.items()) check_numbers(documents::way_below(way, name), member);
  if (!value.is_number()) return;
  const auto number = value.get<double>();
  if (!(number >= 0 && number <= kMost)) documents::refuse(way, value.dump(), "from 0 to 1e18");
}

// Throws WrongDocument if an object lacks one of these members.
void require(const Json& object, const std::string& way, std::initializer_list<const char*> members) {
  for (const char* key : members)
    if (!object.contains(key)) documents::refuse(documents::way_below(way, key), "missing", "there");
}

LoadResult read(const Json& document) {
  if (document.is_object())
    for (const auto& [key, value] : document.items())
      if (is_figure_of_result(key)) check_numbers(key, value);
  auto result = from_document<LoadResult>(document);
  const Json& messages = document.at("messages");
  if (result.lossy()) require(messages, "messages", {"late", "duplicated"});
  if (result.plan.open_loop()) {
    require(messages, "messages", {"due", "unsent", "open_at_opening", "open_at_close"});
    require(document, "", {"uncorrected_latency_ns", "send_lateness_ns"});
    if (result.due() < result.messages.sent) throw WrongDocument("messages: fewer were due than sent");
  }
  result.plan.turns = result.messages.beside.has_value();
  return result;
}

}  // namespace

void add_groups(Json& document, const std::vector<ResultGroup>& groups) {
  for (const ResultGroup& group : groups)
    for (const auto& [name, figure] : group.figures)
      std::visit([&](const auto& value) { document[group.name][name] = value; }, figure);
}

void add_load(Json& document, const LoadProgram& program) {
  documents::add_members(document, program);
}

void add_load(Json& document, const LoadResult& result) {
  documents::add_members(document, result);
}

void add_load(Json& document, const LoadChoices& choices) {
  documents::add_members(document, choices);
}

void remove_histograms(Json& document) {
  for (const char* key : kBuckets) document.erase(key);
}

std::expected<LoadResult, std::string> load_from(const Json& document) {
  try {
    return read(document);
  } catch (const WrongDocument& wrong) {
    return std::unexpected(fmt::format("the load's result cannot be read: {}", wrong.what()));
  }
}

LoadProgram program_from(const Json& document) {
  return from_document<LoadProgram>(document);
}

LoadChoices choices_from(const Json& document) {
  return from_document<LoadChoices>(document);
}

}  // namespace joust
