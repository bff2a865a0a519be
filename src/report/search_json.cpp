// SPDX-License-Identifier: MIT
#include "report/search_json.hpp"

#include "base/document.hpp"
#include "load/result_json.hpp"
#include "report/facts_json.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

Json step_json(const SearchStep& step) {
  Json load = Json::object();
  add_load(load, step.load);
  remove_histograms(load);
  return {{"rate_per_s", step.plan.rate_per_s},
          {"held", step.held == Held::unknown ? Json(nullptr) : Json(step.held == Held::yes)},
          {"why", step.why},
          {"load", load}};
}

}  // namespace

void add_search(Json& document, const SearchResult& result) {
  document["criterion"] = {{"figure", result.criterion.figure}, {"limit_ns", result.criterion.limit.count()}};
  document["limit"] = to_document(result.limit);
  document["highest_rate_per_s"] = to_document(result.highest_held);
  document["lowest_failing_rate_per_s"] = to_document(result.lowest_failed);
  document["capacity_per_s"] = to_document(result.capacity_per_s);
  document["limited_by_load"] = result.limited_by_load;
  document["cut"] = result.is_cut;
  document["lost"] = result.lost;
  document["interrupted"] = result.interrupted;
  document["steps"] = Json::array();
  for (const SearchStep& step : result.steps) document["steps"].push_back(step_json(step));
}

}  // namespace joust
