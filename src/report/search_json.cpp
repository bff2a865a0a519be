// SPDX-License-Identifier: MIT
#include "report/search_json.hpp"

#include <utility>

#include "base/document.hpp"
#include "load/result_json.hpp"

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

}  // namespace joust
