// SPDX-License-Identifier: MIT
#include "report/search_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/document.hpp"
#include "base/units.hpp"
#include "load/result_json.hpp"
#include "report/text.hpp"
#include "stats/summary.hpp"

namespace joust {
namespace {

SearchDocument::Step step_of(const SearchStep& step) {
  SearchDocument::Step made{.rate_per_s = step.plan.rate_per_s, .why = step.why};
  if (step.held != Held::unknown) made.held = step.held == Held::yes;
  add_load(made.load, step.load);
  remove_histograms(made.load);
  return made;
}

}  // namespace

void add_search(nlohmann::ordered_json& document, const SearchResult& result) {
  SearchDocument made{
      .criterion = {.figure = result.criterion.figure, .limit_ns = result.criterion.limit.count()},
      .limit = result.limit,
      .highest_rate_per_s = result.highest_held,
      .lowest_failing_rate_per_s = result.lowest_failed,
      .capacity_per_s = result.capacity_per_s,
      .limited_by_load = result.limited_by_load,
      .cut = result.is_cut,
      .lost = result.lost,
      .interrupted = result.interrupted};
  for (const SearchStep& step : result.steps) made.steps.push_back(step_of(step));
  documents::add_members(document, made);
}

namespace {

constexpr std::size_t kMostRows = 12;

// Returns the median over steps of a percentile; a dash if no step knows it.
template <typename Figure>
std::string time_text(std::span<const SearchStep* const> steps, Figure LoadResult::*figure, double quantile) {
  std::vector<double> values;
  for (const SearchStep* step : steps)
    if (const auto value = std::invoke(figure, step->load).percentile(quantile))
      values.push_back(static_cast<double>(*value));
  return values.empty() ? report::kNone : format_ns(stats::median(values));
}

std::string criterion_text(const Criterion& criterion) {
  return fmt::format("{} < {}", criterion.figure, format_duration(criterion.limit));
}

std::string cells(const std::array<std::string, 7>& texts) {
  constexpr std::array<std::size_t, 7> kWidths{19, 6, 6, 11, 11, 11, 11};
  std::string line;
  for (std::size_t i = 0; i < texts.size(); ++i) line += " " + report::right(texts[i], kWidths[i]);
  return line;
}

// A row for tries at rates next to each other.
std::string row(std::span<const SearchStep* const> steps, const SearchResult& result) {
  const auto rate = [](const SearchStep* step) { return report::plain_number(step->plan.rate_per_s); };
  const std::string low = rate(steps.front()), high = rate(steps.back());
  const auto other_reason = std::ranges::find_if(steps, [&](const SearchStep* step) {
    return step->held == Held::unknown ||
           (step->held == Held::no && !step->why.starts_with(result.criterion.figure));
  });
  return fmt::format(
      "{}  {}\n",
      cells({low == high ? low : fmt::format("{} to {}", low, high), fmt::format("{}", steps.size()),
             fmt::format("{}", std::ranges::count(steps, Held::yes, &SearchStep::held)),
             time_text(steps, &LoadResult::latency_ns, 0.5), time_text(steps, &LoadResult::latency_ns, 0.99),
             time_text(steps, &LoadResult::latency_ns, 0.999),
             time_text(steps, &LoadResult::send_lateness, 0.99)}),
      other_reason == steps.end() ? "" : (*other_reason)->why);
}

// The tries by their rates: the JSON has them one by one, in their order.
std::string table(const SearchResult& result) {
  if (result.steps.empty()) return {};
  std::vector<const SearchStep*> steps;
  for (const SearchStep& step : result.steps) steps.push_back(&step);
  std::ranges::stable_sort(steps, {}, [](const SearchStep* step) { return step->plan.rate_per_s; });
  std::string text = cells({"messages/s", "tries", "held", "p50", "p99", "p99.9", "late p99"}) + "\n";
  const std::size_t rows = std::min(kMostRows, steps.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t from = i * steps.size() / rows, to = (i + 1) * steps.size() / rows;
    text += row(std::span(steps).subspan(from, to - from), result);
  }
  return text;
}

// Names the share of tries well below the limit that something has failed all the same.
std::string disturbed(const SearchResult& result) {
  if (!result.limit) return {};
  constexpr double kWellBelow = 0.9;
  double all = 0, failed = 0;
  for (const SearchStep& step : result.steps)
    if (step.held != Held::unknown && step.plan.rate_per_s < kWellBelow * result.limit->low)
      ++all, failed += step.held == Held::no;
  if (failed == 0) return {};
  return fmt::format(
      "; {:.0f} of {:.0f} tries below 90 % of that failed all the same: stalls of the machine "
      "or of the server",
      failed, all);
}

std::string answer(const SearchResult& result) {
  const std::string what = criterion_text(result.criterion);
  std::string text;
  const auto unknown = std::ranges::find(result.steps, Held::unknown, &SearchStep::held);
  if (!result.lost.empty())
    text = fmt::format(
        "the server was lost {} ({}); {}",
        result.steps.empty()
            ? std::string("in the closed loop that finds its capacity")
            : fmt::format("at {} messages/s", report::plain_number(result.steps.back().plan.rate_per_s)),
        result.lost,
        result.highest_held
            ? fmt::format("{} held at {} before", what, report::plain_number(*result.highest_held))
            : fmt::format("{} held at no rate before", what));
  else if (result.limit && result.highest_held)
    text = fmt::format("{} holds up to {} messages/s ({:.0f} % interval: {} to {}), in a typical {}", what,
                       report::plain_number(result.limit->rate_per_s), 100 * kLimitConfidence,
                       report::plain_number(result.limit->low), report::plain_number(result.limit->high),
                       format_duration(result.steps.back().plan.duration)) +
           disturbed(result);
  else if (result.highest_held)
    text = fmt::format("{} holds at {} messages/s, the highest rate tried", what,
                       report::plain_number(*result.highest_held));
  else if (result.lowest_failed)
    text = fmt::format("{} did not hold at {} messages/s, nor at higher rates{}", what,
                       report::plain_number(*result.lowest_failed),
                       unknown == result.steps.end() || result.interrupted ? ""
                       : unknown->load_was_late
                           ? "; at lower ones the load itself was late (give it a CPU of its own: --cpus)"
                           : "; lower ones need longer steps (-d)");
  else
    text = fmt::format("whether {} holds was not found out", what);
  if (result.limited_by_load)
    text +=
        "; the load itself was late there: the server may hold more (give the load a CPU of its own: --cpus)";
  if (result.is_cut) text += "; the time is over: a longer one (--time) makes the interval narrower";
  if (result.interrupted) text += "; interrupted";
  return text + "\n";
}

}  // namespace

std::string search_text(const SearchResult& result) {
  std::string text;
  if (result.capacity_per_s)
    text += fmt::format("closed loop: {} messages/s\n", report::plain_number(*result.capacity_per_s));
  return text + table(result) + answer(result);
}

}  // namespace joust
