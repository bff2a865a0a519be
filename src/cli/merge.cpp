// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/document.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/command.hpp"
#include "cli/common/merged_load.hpp"
#include "cli/common/output.hpp"
#include "cli/common/result_file.hpp"
#include "history/comparison.hpp"
#include "history/merging.hpp"
#include "load/result.hpp"
#include "measure/hdr_histogram.hpp"
#include "race/figures/wording.hpp"
#include "report/facts_json.hpp"
#include "report/load_text.hpp"

namespace joust {
namespace {

using history::Merged;
using Json = nlohmann::ordered_json;

constexpr int kDecimalsOfSum = 3;

std::string ratio_text(const stats::Ratio& ratio) {
  return ratio.rounds == 0 ? "-" : race::ratio_with_interval(ratio, kDecimalsOfSum);
}

std::string latency_text(const Merged& merged, double quantile) {
  const auto value_ns = merged.latency.percentile(quantile);
  return value_ns ? format_ns(static_cast<double>(*value_ns)) : "-";
}

std::string merge_text(const std::vector<Merged>& all, const std::vector<std::string>& labels) {
  std::vector<std::vector<std::string>> rows{
      {"CASE", "CONTESTANT", "REFERENCE", "RACES", "ROUNDS", "RATIO", "COST", "p50", "p99", "p99.9"}};
  std::string left_out;
  for (const Merged& merged : all) {
    std::uint64_t rounds = 0;
    for (const history::RaceOfMany& race : merged.races) rounds += race.rounds;
    rows.push_back({merged.case_, merged.contestant, merged.reference, fmt::format("{}", merged.races.size()),
                    fmt::format("{}", rounds), ratio_text(merged.ratio), ratio_text(merged.cost_ratio),
                    latency_text(merged, 0.5), latency_text(merged, 0.99), latency_text(merged, 0.999)});
    for (const std::string& reason : merged.left_out)
      left_out += fmt::format("Left out of the ratios: {} in {}\n", merged.contestant, reason);
  }
  return fmt::format(
      "{}: {}\n\n{}\n{}RATIO is that of throughput, or of the latency that ranks, to REFERENCE; COST that of "
      "CPU "
      "time per message.\nEach has its 95 % interval over the races. Latencies are of all races together.\n",
      counted(labels.size(), "race"), join(labels, "; "), columns(rows), left_out);
}

Json ratio_json(const stats::Ratio& ratio) {
  return ratio.rounds == 0 ? Json(nullptr) : to_json(ratio);
}

Json merged_json(const Merged& merged) {
  return {
      {"case", merged.case_},
      {"contestant", merged.contestant},
      {"reference", merged.reference},
      {"races", to_document(merged.races)},
      {"ratio", ratio_json(merged.ratio)},
      {"cost_ratio", ratio_json(merged.cost_ratio)},
      {"latency_histogram", merged.latency.count() > 0 ? Json(hdr_histogram(merged.latency)) : Json(nullptr)},
      {"left_out", merged.left_out}};
}

struct Merge {
  std::vector<std::string> names{};
  bool as_json = false;

  void run() const;
  void merge_loads(std::vector<LoadOfHost> hosts) const;
};

// Reads those of the files that are results of loads.
std::vector<LoadOfHost> loads_among(const std::vector<std::string>& names) {
  std::vector<LoadOfHost> loads;
  for (const std::string& name : names)
    if (auto load = read_load_file(name)) {
      if (!load->trouble.empty()) throw UsageError(fmt::format("{}: {}", name, load->trouble));
      loads.push_back(std::move(*load));
    }
  return loads;
}

void Merge::merge_loads(std::vector<LoadOfHost> hosts) const {
  std::error_code none;
  for (const std::string& name : names)
    if (std::ranges::find(hosts, name, &LoadOfHost::name) == hosts.end())
      throw UsageError(fmt::format(
          "{}: is {}; {} is a result of a load, and those of one kind are merged", name,
          std::filesystem::exists(name, none) ? "no result of a load" : "no file", hosts.front().name));
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    for (std::size_t before = 0; before < i; ++before)
      if (hosts[i].document == hosts[before].document)
        throw UsageError(fmt::format("{}: is there twice", hosts[i].name));
    if (const std::string why =
            why_no_parts({hosts.front().name, hosts.front().result}, {hosts[i].name, hosts[i].result});
        !why.empty())
      throw UsageError(fmt::format("these are no parts of one load: {}", why));
  }
  const WholeLoad whole = merged_load(hosts);
  if (as_json) return print_list(text_of(whole.document, 2));
  print_list(for_people(fmt::format("{} from {} results: {}\n", whole.document.value("protocol", "?"),
                                    hosts.size(), plan_text(whole.result.plan)) +
                        load_text(whole.result) + "\n" + hosts_text(whole, hosts)));
}

void Merge::run() const {
  if (names.size() < 2) throw UsageError("give at least two results of the same race, or of the same load");
  if (auto loads = loads_among(names); !loads.empty()) return merge_loads(std::move(loads));
  std::vector<history::NamedDocument> results;
  std::vector<std::string> labels;
  for (const std::string& name : names) {
    history::NamedDocument result = read_stored_result(name);
    for (const history::NamedDocument& other : results)
      if (other.document.json == result.document.json)
        throw UsageError(fmt::format("{}: is there twice", name));
    if (!results.empty())
      if (const std::string why =
              history::why_not_the_same(results.front().document, result.document, names.front(), name);
          !why.empty())
        throw UsageError(fmt::format("these are no results of the same race: {}", why));
    results.push_back(std::move(result));
    labels.push_back(history::label_of(results.back()));
  }
  const std::vector<Merged> all = history::merge(results);
  if (all.empty()) throw UsageError(fmt::format("{}: has no contestant", names.front()));
  if (!as_json) return print_list(for_people(merge_text(all, labels)));
  Json contestants = Json::array();
  for (const Merged& merged : all) contestants.push_back(merged_json(merged));
  print_list(
      text_of({{"schema", "joust-merge/1"}, {"results", names}, {"contestants", std::move(contestants)}}, 2));
}

}  // namespace

void add_merge(Command root, const Program& program, int& /*exit_code*/) {
  auto merge = std::make_shared<Merge>();
  Command command = root.add_command(
      "merge",
      "Add the results of the same race from several days or hosts, or of one load from several hosts");
  command.add_words("RESULT...", merge->names,
                    "files of 'race --json', or tags or numbers of 'history'; or files of 'load --json'");
  command.add_flag("--json", merge->as_json, "as JSON (joust-merge/1; of loads joust-load/1)");
  command.footer(fmt::format(R"(Examples:
  {0} merge monday.json tuesday.json wednesday.json
  {0} merge 17 18 19 --json
  {0} merge host1.json host2.json    of 'load --json', see its --start-at

Contestants are compared within each race, and each race is one value: the interval is that of races, and is
wide with two of them. Latency histograms are added exactly.
Loads become one: counts, rates and histograms are added. They are the same but for connections, rate and
seed.
Exit codes: 0 ok, 2 wrong usage, or results that are not of the same race.)",
                             program.name));
  command.callback([merge] { merge->run(); });
}

}  // namespace joust
