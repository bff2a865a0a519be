// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "cli/common/result_file.hpp"
#include "history/comparison.hpp"
#include "history/store.hpp"
#include "race/figures/wording.hpp"
#include "race/judgement/thresholds.hpp"
#include "report/facts_json.hpp"

namespace joust {
namespace {

// A change beside a threshold.
struct Judged {
  const history::Change* change;
  race::Fails fails;
  double limit;
  race::Standing standing;
};

struct Compared {
  history::NamedDocument base, now;
  std::vector<std::string> different{};  // facts of the environments
  std::string another_race{};            // why these are no results of the same race
  stats::Measure measure{};
  std::vector<history::Change> changes{};
  std::vector<Judged> judged{};
};

using history::Change;
using history::kRacesOfScatter;
using Json = nlohmann::ordered_json;

constexpr int kDecimals = 3;

const char* figure_words(const Change& change) {
  if (change.is_cost) return "cost";
  return change.smaller_is_better ? "latency" : "throughput";
}

std::string decision_words(const Change& change, const stats::Measure& measure) {
  if (!change.is_judged())
    return change.ratio.is_known() || change.is_bound()
               ? "not judged: the client was, or may have been, the limit"
               : "not judged: no interval is known";
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
  const bool several = compared.now.document.cases.size() > 1;
  std::vector<std::vector<std::string>> rows{
      {"CONTESTANT", "FIGURE", "NEW/BASE", "95 % INTERVAL", "DECISION"}};
  for (const Change& change : compared.changes) {
    const std::string name = several ? change.case_ + ": " + change.contestant : change.contestant;
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
  const auto compares = [](const Change& change) { return change.is_judged(); };
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
  Json json{{"case", change.case_}, {"contestant", change.contestant}, {"figure", change.figure}};
  if (!change.missing.empty()) {
    json["missing"] = change.missing;
    return json;
  }
  json["base"] = change.base;
  json["new"] = change.now;
  json["ratio"] = to_json(change.ratio);
  json["chance"] = change.ratio.chance;
  json["decision"] = word_of(change.decision);
  json["bound"] = change.is_bound();
  json["races"] = change.races;
  json["scatter"] = change.races > 1 ? Json(change.scatter) : Json(nullptr);
  return json;
}

Json result_json(const history::NamedDocument& result) {
  return {{"name", result.name},
          {"started", result.document.race.started},
          {"joust", result.document.race.joust},
          {"host", history::fact(result.document, "host")},
          {"fingerprint", history::fact(result.document, "fingerprint")}};
}

std::string compare_text(const Compared& compared) {
  const auto& [name, base] = compared.base;
  std::string text = fmt::format(
      "Across time: {} (new, {}) against {} (base, {}). Nothing pairs their rounds: what has changed "
      "on the machine\nmeanwhile is in the ratios.\n",
      compared.now.name, compared.now.document.race.started, name, base.race.started);
  if (base.json == compared.now.document.json) text += "Both are the same result.\n";
  if (!compared.another_race.empty())
    text += fmt::format("Not the same race (--force): {}.\n", compared.another_race);
  if (!compared.different.empty())
    text += fmt::format("Different environments (--force): {}.\n", join(compared.different, "; "));
  return text + "\n" + table_of(compared) + "\n" + scatter_words(compared);
}

// Returns a sentence for each change beside a threshold, with its consequence.
std::vector<std::string> threshold_words(const Compared& compared, bool undecided_fails) {
  std::vector<std::string> sentences;
  for (const Judged& judged : compared.judged) {
    const Change& change = *judged.change;
    const std::string limit = race::limit_words(judged.fails, judged.limit);
    const std::string what = change.missing.empty()
                                 ? fmt::format("{} of {} is at {} of the base", figure_words(change),
                                               race::in_list(change.contestant),
                                               race::ratio_with_interval(change.ratio, kDecimals))
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

// Returns the document that docs/compare.schema.json describes.
std::string compare_json(const Compared& compared) {
  Json changes = Json::array(), thresholds = Json::array();
  for (const Change& change : compared.changes) changes.push_back(change_json(change));
  for (const Judged& judged : compared.judged)
    thresholds.push_back({{"case", judged.change->case_},
                          {"contestant", judged.change->contestant},
                          {"figure", judged.change->figure},
                          {"fails", word_of(judged.fails)},
                          {"limit", judged.limit},
                          {"standing", word_of(judged.standing)}});
  return text_of({{"schema", "joust-compare/1"},
                  {"base", result_json(compared.base)},
                  {"new", result_json(compared.now)},
                  {"same_race", compared.another_race.empty()},
                  {"different_facts", compared.different},
                  {"changes", std::move(changes)},
                  {"thresholds", std::move(thresholds)}},
                 2);
}

struct Compare {
  const Program& program;
  std::string base{}, now{}, fail_below{}, fail_cost_above{}, undecided{};
  bool as_json = false, force = false;

  int run() const;
  Compared compared() const;
  void judge(Compared& compared) const;
  history::Earlier earlier(const Compared& compared) const;
};

std::optional<double> ratio_of(const std::string& text, const char* flag) {
  if (text.empty()) return std::nullopt;
  const auto ratio = parse_ratio(text);
  if (!ratio) throw UsageError(fmt::format("{}: {}", flag, ratio.error()));
  return *ratio;
}

// Returns the values of earlier races; none where there is no history.
history::Earlier Compare::earlier(const Compared& found) const {
  const history::Origin origin{.host = history::fact(found.base.document, "host"),
                               .fingerprint = history::fact(found.base.document, "fingerprint")};
  try {
    const std::shared_ptr<history::Store> store = history::open_store(history::default_path());
    const std::vector<std::string> compared{found.base.document.json, found.now.document.json};
    store->find({});  // it is opened now, so that its trouble is reported once
    return [store, origin, compared](const std::string& series, const std::string& figure) {
      return store->earlier(series, figure, origin, compared);
    };
  } catch (const std::runtime_error& failed) {
    complain(program, fmt::format("without the history: {}", failed.what()));
    return [](const std::string&, const std::string&) { return std::vector<double>(); };
  }
}

Compared Compare::compared() const {
  if (!undecided.empty() && fail_below.empty() && fail_cost_above.empty())
    throw UsageError("--undecided: there is no threshold; give --fail-below or --fail-cost-above");
  Compared found{.base = read_stored_result(base), .now = read_stored_result(now)};
  found.another_race = history::why_not_the_same(found.base.document, found.now.document, base, now);
  found.different = history::different_facts(found.base.document, found.now.document);
  if (!force && !found.another_race.empty())
    throw UsageError(fmt::format("these are no results of the same race: {}; --force compares what both have",
                                 found.another_race));
  if (!force && !found.different.empty())
    throw UsageError(fmt::format("the environments differ ({}); --force compares all the same",
                                 join(found.different, "; ")));
  found.changes = history::compare(found.base.document, found.now.document, earlier(found), found.measure);
  judge(found);
  return found;
}

void Compare::judge(Compared& found) const {
  const auto below = ratio_of(fail_below, "--fail-below"),
             above = ratio_of(fail_cost_above, "--fail-cost-above");
  const auto by_latency = std::ranges::find_if(found.changes, [](const history::Change& change) {
    return !change.is_cost && change.smaller_is_better;
  });
  if (below && by_latency != found.changes.end())
    throw UsageError(
        fmt::format("--fail-below is for throughput, and case '{}' is ranked by latency", by_latency->case_));
  for (const history::Change& change : found.changes) {
    const auto& limit = change.is_cost ? above : below;
    if (!limit) continue;
    Judged judged{.change = &change,
                  .fails = change.is_cost ? race::Fails::above : race::Fails::below,
                  .limit = *limit,
                  .standing = race::Standing::undecided};
    if (change.missing.empty())
      judged.standing = race::standing_of(change.ratio, *limit, judged.fails, change.bounds);
    found.judged.push_back(judged);
  }
}

int Compare::run() const {
  const Compared found = compared();
  std::string shown = as_json ? compare_json(found) : compare_text(found);
  for (const std::string& sentence : threshold_words(found, undecided == "fail")) {
    if (as_json)
      complain(program, sentence);
    else
      shown += sentence + "\n";
  }
  print_list(as_json ? shown : for_people(shown));
  const auto any = [&](race::Standing standing) {
    return std::ranges::count(found.judged, standing, &Judged::standing) > 0;
  };
  if (any(race::Standing::beyond) || (undecided == "fail" && any(race::Standing::undecided)))
    return kThreshold;
  if (std::ranges::any_of(found.changes, &Change::is_judged)) return kOk;
  const bool lacks_rounds = std::ranges::any_of(
      found.changes, [](const Change& change) { return change.missing.empty() && !change.ratio.is_known(); });
  complain(
      program,
      lacks_rounds
          ? fmt::format("nothing can be judged: one round does not show what changes by chance, unless the "
                        "history has {} other races of its kind; race for more rounds (--time)",
                        kRacesOfScatter)
          : "nothing can be judged: see the table");
  return kInvalid;
}

}  // namespace

void add_compare(Command root, const Program& program, int& exit_code) {
  auto compare = std::make_shared<Compare>(program);
  Command command = root.add_command("compare", "Compare two results of the same race, across time");
  const char* const what = "a file of 'race --json', or else a tag or number of 'history'";
  command.add_option("base", compare->base, what).type_name("BASE").required();
  command.add_option("new", compare->now, what).type_name("NEW").required();
  command
      .add_option(
          "--fail-below", compare->fail_below,
          "exit code 99 if the throughput of a contestant is below this ratio to the base (0.97), with "
          "its whole interval")
      .type_name("RATIO");
  command
      .add_option("--fail-cost-above", compare->fail_cost_above,
                  "exit code 99 if its CPU time per message is above this ratio to the base (1.03), likewise")
      .type_name("RATIO");
  command
      .add_option("--undecided", compare->undecided,
                  "a threshold within the interval, or a ratio that is not known: ok is no failure, fail is "
                  "exit code 99 [ok]")
      .one_of({"ok", "fail"});
  command.add_flag("--force", compare->force,
                   "compare also results of different environments, and of races that differ");
  command.add_flag("--json", compare->as_json, "as JSON (joust-compare/1)");
  command.footer(fmt::format(R"(Examples:
  {0} compare monday.json friday.json
  {0} compare release-1.2 17 --fail-below 0.95

Two results of one command are compared best by one race of both (--command old=... --command new=...): its
rounds are paired. Across time a machine changes. How much, earlier races of the same kind in the history say;
with fewer than five of them no difference below 10 % is reported.
Exit codes: 0 ok, 2 usage, 3 nothing can be compared or judged, 99 a contestant is beyond a threshold.)",
                             program.name));
  command.callback([compare, &exit_code] { exit_code = compare->run(); });
}

}  // namespace joust
