// SPDX-License-Identifier: MIT
#include "report/search_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.hpp"
#include "report/text.hpp"

namespace joust {
namespace {

std::string time_text(const Distribution& latency, double quantile) {
  const auto value = latency.percentile(quantile);
  return value ? format_duration(Duration(static_cast<Duration::rep>(*value))) : "–";
}

std::string criterion_text(const Criterion& criterion) {
  return fmt::format("{} < {}", criterion.figure, format_duration(criterion.limit));
}

std::string cells(const std::array<std::string, 6>& texts) {
  std::string line = " ";
  for (const std::string& text : texts) line += " " + report::right(text, 11);
  return line;
}

std::string search_line(const SearchStep& step) {
  const LoadResult& load = step.load;
  return fmt::format(
      "{}  {}\n",
      cells({report::plain_number(step.plan.rate_per_s), report::plain_number(load.throughput_per_s),
             time_text(load.latency, 0.5), time_text(load.latency, 0.99), time_text(load.latency, 0.999),
             time_text(load.send_lateness, 0.99)}),
      step.held == Held::yes ? "holds" : step.why);
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
  else if (result.limit)
    text = fmt::format("{} holds up to {} messages/s ({:.0f} % interval: {} to {})", what,
                       report::plain_number(result.limit->rate_per_s), 100 * kLimitConfidence,
                       report::plain_number(result.limit->low), report::plain_number(result.limit->high));
  else if (result.highest_held)
    text = fmt::format("{} holds at {} messages/s, the highest rate tried", what,
                       report::plain_number(*result.highest_held));
  else if (result.lowest_failed)
    text = fmt::format(
        "{} did not hold at {} messages/s, nor at higher rates{}", what,
        report::plain_number(*result.lowest_failed),
        unknown != result.steps.end() && !result.interrupted ? "; lower ones need longer steps (-d)" : "");
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
  text += cells({"messages/s", "replies/s", "p50", "p99", "p99.9", "late p99"}) + "\n";
  for (const SearchStep& step : result.steps) text += search_line(step);
  return text + answer(result);
}

}  // namespace joust
