// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/units.hpp"
#include "base/words.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "cli/compare/show.hpp"
#include "history/store.hpp"

namespace joust {
namespace {

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
        fmt::format("--fail-below is for throughput, and case '{}' is ranked by latency", by_latency->heat));
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
  const bool compares_any = std::ranges::any_of(
      found.changes, [](const history::Change& change) { return change.missing.empty(); });
  if (compares_any) return kOk;
  complain(program, "nothing can be compared");
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
Exit codes: 0 ok, 2 usage, 3 nothing can be compared, 99 a contestant is beyond a threshold.)",
                             program.name));
  command.callback([compare, &exit_code] { exit_code = compare->run(); });
}

}  // namespace joust
