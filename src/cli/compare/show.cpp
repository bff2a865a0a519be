// SPDX-License-Identifier: MIT
#include "cli/compare/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "cli/common/listing.hpp"
#include "race/figures/wording.hpp"
#include "race/judgement/thresholds.hpp"
#include "report/facts_json.hpp"
#include "report/race_json.hpp"

namespace joust {
namespace {

using history::Change;
using history::kRacesOfScatter;
using Json = nlohmann::ordered_json;

constexpr int kDecimals = 3;

const char* figure_words(const Change& change) {
  if (change.is_cost) return "cost";
  return change.smaller_is_better ? "latency" : "throughput";
}

std::string decision_words(const Change& change, const stats::Measure& measure) {
  if (change.is_bound()) return "not judged: the client was, or may have been, the limit";
  const char* const direction = (change.ratio.estimate > 1) != change.smaller_is_better ? "better" : "worse";
  switch (change.decision) {
    case stats::Decision::differ:
      return direction;
    case stats::Decision::slight:
      return fmt::format("{}, by about as much as counts", direction);
    case stats::Decision::probable:
      return fmt::format("probably {}, not certain", direction);
    case stats::Decision::equal:
      return fmt::format("equal within {}", race::percent(measure.equal));
    case stats::Decision::undecided:
      break;
  }
  return "no difference found";
}

std::string table_of(const Compared& compared) {
  const bool several = compared.now.document.heats.size() > 1;
  std::vector<std::vector<std::string>> rows{
      {"CONTESTANT", "FIGURE", "NEW/BASE", "95 % INTERVAL", "DECISION"}};
  for (const Change& change : compared.changes) {
    const std::string name = several ? change.heat + ": " + change.contestant : change.contestant;
    if (!change.missing.empty()) {
      rows.push_back({name, figure_words(change), "-", "-", "not compared: " + change.missing});
      continue;
    }
    rows.push_back({name, figure_words(change), race::ratio_words(change.ratio.estimate, kDecimals),
                    race::interval_words(change.ratio.interval, kDecimals),
                    decision_words(change, compared.measure)});
  }
  return columns(rows);
}

// Says how well the scatter between races is known, which decides how much the intervals can tell.
std::string scatter_words(const Compared& compared) {
  const auto compares = [](const Change& change) { return change.missing.empty(); };
  const auto first = std::ranges::find_if(compared.changes, compares);
  if (first == compared.changes.end()) return {};
  std::size_t fewest = first->races;
  double widest[2] = {0, 0};  // of the figure that ranks, and of cost
  for (const Change& change : compared.changes) {
    if (!compares(change)) continue;
    fewest = std::min(fewest, change.races);
    widest[change.is_cost] = std::max(widest[change.is_cost], change.scatter);
  }
  const std::string others = counted(fewest, "other race");
  if (fewest < kRacesOfScatter)
    return fmt::format(
        "The history has {} of this kind in this environment. With fewer than {} it is not known by how much "
        "they scatter, so the intervals are wider by {}.\n",
        others, kRacesOfScatter, race::percent(history::kUnknownScatter - 1));
  return fmt::format("{} of this kind in this environment scatter by {} ({}) and {} (cost) at most.\n",
                     others, race::percent(widest[0], 1), figure_words(*first), race::percent(widest[1], 1));
}

Json change_json(const Change& change) {
  Json json{{"case", change.heat}, {"contestant", change.contestant}, {"figure", change.figure}};
  if (!change.missing.empty()) {
    json["missing"] = change.missing;
    return json;
  }
  json["base"] = change.base;
  json["new"] = change.now;
  json["ratio"] = to_json(change.ratio);
  json["chance"] = change.ratio.chance;
  json["decision"] = report::name_of(change.decision);
  json["bound"] = change.is_bound();
  json["races"] = change.races;
  json["scatter"] = change.races > 1 ? Json(change.scatter) : Json(nullptr);
  return json;
}

Json result_json(const history::NamedDocument& result) {
  return {{"name", result.name},
          {"started", result.document.started},
          {"joust", result.document.version},
          {"host", history::fact(result.document, "host")},
          {"fingerprint", history::fact(result.document, "fingerprint")}};
}

}  // namespace

std::string compare_text(const Compared& compared) {
  const auto& [name, base] = compared.base;
  std::string text = fmt::format(
      "Across time: {} (new, {}) against {} (base, {}). Nothing pairs their rounds: what has changed "
      "on the machine\nmeanwhile is in the ratios.\n",
      compared.now.name, compared.now.document.started, name, base.started);
  if (base.json == compared.now.document.json) text += "Both are the same result.\n";
  if (!compared.another_race.empty())
    text += fmt::format("Not the same race (--force): {}.\n", compared.another_race);
  if (!compared.different.empty())
    text += fmt::format("Different environments (--force): {}.\n", join(compared.different, "; "));
  return text + "\n" + table_of(compared) + "\n" + scatter_words(compared);
}

std::vector<std::string> threshold_words(const Compared& compared, bool undecided_fails) {
  std::vector<std::string> sentences;
  for (const Judged& judged : compared.judged) {
    const Change& change = *judged.change;
    const std::string limit =
        fmt::format("{} {}", judged.fails == race::Fails::below ? "below" : "above", judged.limit);
    const std::string what = change.missing.empty()
                                 ? fmt::format("{} of {} is at {} ({}) of the base", figure_words(change),
                                               race::in_list(change.contestant),
                                               race::ratio_words(change.ratio.estimate, kDecimals),
                                               race::interval_words(change.ratio.interval, kDecimals))
                                 : fmt::format("{} of {} is not known ({})", figure_words(change),
                                               race::in_list(change.contestant), change.missing);
    sentences.push_back(judged.standing == race::Standing::beyond
                            ? fmt::format("{}, {}: exit code 99", what, limit)
                        : judged.standing == race::Standing::within
                            ? fmt::format("{}, not {}", what, limit)
                            : fmt::format("{}: not decided whether {}: {}", what, limit,
                                          race::undecided_words(undecided_fails)));
  }
  return sentences;
}

std::string compare_json(const Compared& compared) {
  Json changes = Json::array(), thresholds = Json::array();
  for (const Change& change : compared.changes) changes.push_back(change_json(change));
  for (const Judged& judged : compared.judged)
    thresholds.push_back({{"case", judged.change->heat},
                          {"contestant", judged.change->contestant},
                          {"figure", judged.change->figure},
                          {"fails", judged.fails == race::Fails::below ? "below" : "above"},
                          {"limit", judged.limit},
                          {"standing", report::name_of(judged.standing)}});
  return text_of({{"schema", "joust-compare/1"},
                  {"base", result_json(compared.base)},
                  {"new", result_json(compared.now)},
                  {"same_race", compared.another_race.empty()},
                  {"different_facts", compared.different},
                  {"changes", std::move(changes)},
                  {"thresholds", std::move(thresholds)}},
                 2);
}

}  // namespace joust
