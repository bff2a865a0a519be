// SPDX-License-Identifier: MIT
// Every key, with its unit, is described in docs/result.schema.json; a test holds this file against it.
#include "report/race_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/fields.hpp"
#include "load/plan_json.hpp"
#include "load/settings.hpp"
#include "race/figures/hosts_wording.hpp"
#include "race/figures/ranking.hpp"
#include "race/judgement/judge.hpp"
#include "race/scenario/engine_choice.hpp"
#include "report/facts_json.hpp"
#include "report/race_hosts_json.hpp"
#include "report/race_trial_json.hpp"

namespace joust::report {
namespace {

using nlohmann::ordered_json;
using race::CaseResult;
using race::Entry;
using race::EntryKind;
using race::Trial;
using race::Verdict;

ordered_json engine_json(const EngineChoice& choice) {
  ordered_json json{{"engine", choice.engine}, {"threads", choice.threads}, {"wait", choice.wait}};
  if (choice.nodelay) json["nodelay"] = race::on_off(*choice.nodelay);
  if (choice.transport != EngineChoice().transport) json["transport"] = choice.transport;
  for (const auto& [knob, value] : choice.knobs) json[knob] = value;
  for (const auto& [option, value] : choice.options) json[option] = value;
  return json;
}

ordered_json server_json(const race::Contestant& contestant) {
  if (!contestant.external()) return engine_json(contestant.server);
  ordered_json json{{"engine", "external"}, {"command", contestant.command}};
  if (!contestant.ready.empty()) json["ready"] = contestant.ready;
  return json;
}

ordered_json client_json(const race::Contestant& contestant) {
  if (contestant.transfer.empty()) return engine_json(contestant.client);
  return {{"engine", "external"}, {"command", contestant.transfer}};
}

ordered_json files_json(const std::optional<race::FilePlan>& files) {
  if (!files) return nullptr;
  return {{"count", files->count}, {"bytes", files->bytes}, {"on", files->on}};
}

ordered_json estimate_json(const std::optional<race::Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"median", estimate->median},
          {"low", number(estimate->interval.low)},
          {"high", number(estimate->interval.high)},
          {"confidence", estimate->interval.is_known() ? ordered_json(estimate->confidence) : nullptr}};
}

ordered_json sides_json(const race::Sides& sides) {
  return {{"server", number(sides.server)}, {"client", number(sides.client)}};
}

ordered_json latencies_json(const race::LatencyEstimates& estimates) {
  ordered_json json;
  for (const race::LatencyFigure& figure : race::kLatencyFigures)
    json[figure.name] = estimate_json(estimates.*figure.estimate);
  return json;
}

// Returns the figures of all trials' samples together.
ordered_json latency_json(const Distribution& latency) {
  static constexpr std::pair<const char*, double> kPercentiles[] = {
      {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};
  const bool known = latency.count() > 0;
  ordered_json json{{"mean", known ? ordered_json(latency.mean()) : nullptr}};
  ordered_json few = ordered_json::array();
  for (const auto& [name, quantile] : kPercentiles) {
    const auto value = latency.percentile(quantile);
    json[name] = value ? number(static_cast<double>(*value)) : ordered_json(nullptr);
    if (value && latency.few_beyond(quantile)) few.push_back(name);
  }
  json["max"] = known ? number(static_cast<double>(latency.max())) : ordered_json(nullptr);
  json.update({{"samples", latency.count()}, {"merged", true}, {"few_beyond", std::move(few)}});
  return json;
}

ordered_json schedule_json(const std::optional<race::ScheduleSummary>& schedule) {
  if (!schedule) return nullptr;
  return {{"kept_fraction", schedule->achieved.median},
          {"uncorrected_latency_ns", latency_json(schedule->uncorrected)},
          {"send_lateness_ns", latency_json(schedule->lateness)}};
}

ordered_json loss_json(const std::optional<race::Loss>& loss) {
  if (!loss) return nullptr;
  return {{"lost", loss->lost}, {"of", loss->of}};
}

ordered_json summary_json(const race::Summary& summary) {
  ordered_json latency = latency_json(summary.latency);
  latency["intervals"] = latencies_json(summary.latency_by_round);
  return {{"trials", summary.trials},
          {"throughput_per_s", estimate_json(summary.throughput_per_s)},
          {"mb_per_s", number(summary.mb_per_s)},
          {"deliveries_per_s", number(summary.deliveries_per_s)},
          {"ratio", estimate_json(summary.ratio)},
          {"server_cpu_us_per_message", estimate_json(summary.server_cpu_us_per_message)},
          {"cost_us_per_message", estimate_json(summary.cost_us_per_message)},
          {"cost_ratio", estimate_json(summary.cost_ratio)},
          {"latency_ns", std::move(latency)},
          {"latency_ratio", latencies_json(summary.latency_ratio)},
          {"schedule", schedule_json(summary.schedule)},
          {"loss", loss_json(summary.loss)},
          {"server_utilisation", estimate_json(summary.server_utilisation)},
          {"client_utilisation", estimate_json(summary.client_utilisation)},
          {"cpu_us_per_message", sides_json(summary.cpu_us_per_message)},
          {"busy_us_per_message", number(summary.busy_us_per_message)},
          {"switches_per_message", sides_json(summary.switches_per_message)},
          {"system_calls_per_message", sides_json(summary.system_calls_per_message)},
          {"peak_memory_bytes", sides_json(summary.peak_memory_bytes)}};
}

ordered_json places_json(const std::optional<stats::Places>& places) {
  if (!places) return nullptr;
  return {{"first", places->first}, {"last", places->last}};
}

ordered_json ratio_json(const stats::Ratio& ratio) {
  return {{"estimate", number(ratio.estimate)},
          {"low", number(ratio.interval.low)},
          {"high", number(ratio.interval.high)}};
}

const char* ranking_figure(const CaseResult& one, const race::LatencyFigure& latency) {
  return one.ranked_by_latency() ? latency.name : "throughput";
}
const char* ranking_figure(const CaseResult& one) {
  return ranking_figure(one, *one.latency);
}

const char* cost_figure(const CaseResult& one) {
  return one.plan.files ? "cpu_us_per_message" : "server_cpu_us_per_message";
}

// Returns every two contestants, by the figure that ranks them and by cost.
ordered_json pairs_json(const CaseResult& one, const race::LatencyFigure& latency,
                        const race::Comparison& ranking, const race::Comparison& costs) {
  ordered_json pairs = ordered_json::array();
  const auto add = [&](const race::Comparison& comparison, const char* figure) {
    for (const race::Pair& pair : comparison.pairs)
      pairs.push_back({{"a", pair.a},
                       {"b", pair.b},
                       {"figure", figure},
                       {"ratio", ratio_json(pair.ratio)},
                       {"chance", pair.ratio.chance},
                       {"rounds", pair.ratio.rounds},
                       {"understated", pair.understated},
                       {"all_turns", pair.all_turns ? ratio_json(*pair.all_turns) : ordered_json(nullptr)},
                       {"decision", word_of(pair.decision)}});
  };
  add(ranking, ranking_figure(one, latency));
  add(costs, cost_figure(one));
  return pairs;
}

ordered_json looks_json(const CaseResult& one) {
  ordered_json looks = ordered_json::array();
  for (const race::TakenLook& taken : one.looks_taken)
    looks.push_back({{"look", word_of(taken.look)},
                     {"rounds", taken.rounds},
                     {"at_s", taken.at_s},
                     {"precise", taken.precise},
                     {"uneven", taken.uneven},
                     {"pairs", pairs_json(one, *taken.latency, taken.ranking, taken.costs)}});
  return looks;
}

// Returns the ratios of the reference's second entry to its first.
ordered_json itself_json(const CaseResult& one) {
  ordered_json json = ordered_json::object();
  const auto add = [&](const race::Comparison& comparison, const char* figure) {
    json[figure] = comparison.itself ? ratio_json(*comparison.itself) : ordered_json(nullptr);
  };
  add(one.ranking, ranking_figure(one));
  add(one.costs, cost_figure(one));
  return json;
}

ordered_json threshold_json(const CaseResult& one, const race::ThresholdFinding& finding) {
  return {{"case", one.plan.name},
          {"contestant", finding.contestant},
          {"reference", finding.reference},
          {"figure", finding.is_cost ? cost_figure(one) : ranking_figure(one)},
          {"ratio", finding.ratio ? ratio_json(*finding.ratio) : ordered_json(nullptr)},
          {"fails", word_of(finding.fails)},
          {"limit", finding.limit},
          {"decision", word_of(finding.standing)},
          {"sentence", finding.sentence}};
}

ordered_json call_count_json(const race::CallCount& calls) {
  if (!calls.server && !calls.client) return {{"reason", calls.reason}};
  return {{"server", number(calls.server)},
          {"client", number(calls.client)},
          {"messages", calls.messages},
          {"window_s", calls.window_s}};
}

ordered_json contestant_json(const CaseResult& one, const Entry& entry) {
  ordered_json trials = ordered_json::array();
  for (const Trial& trial : entry.trials) trials.push_back(trial_json(trial, one.plan));
  ordered_json json{{"name", entry.contestant.name},
                    {"case", one.plan.name},
                    {"kind", word_of(entry.kind)},
                    {"server", server_json(entry.contestant)},
                    {"client", client_json(entry.contestant)},
                    {"ranked", entry.ranked},
                    {"reason", entry.reason},
                    {"at_least", entry.at_least},
                    {"limit_unknown", entry.limit_unknown},
                    {"place", places_json(entry.place)},
                    {"cost_place", places_json(entry.cost_place)},
                    {"trials", std::move(trials)},
                    {"call_count", call_count_json(entry.calls)},
                    {"summary", summary_json(entry.summary)}};
  if (entry.contestant.warmup) json["warmup_s"] = seconds(entry.contestant.warmup);
  if (entry.contestant.ready_timeout) json["ready_timeout_s"] = seconds(entry.contestant.ready_timeout);
  return json;
}

ordered_json check_json(const CaseResult& one, const race::CheckResult& check) {
  const char* verdict = check.verdict == Verdict::pass   ? "PASS"
                        : check.verdict == Verdict::warn ? "WARN"
                                                         : "REFUSE";
  return {{"id", check.id},
          {"case", one.plan.name},
          {"title", check.title},
          {"verdict", verdict},
          {"detail", check.detail},
          {"not_ranked", check.bars},
          {"at_least", check.at_least},
          {"limit_unknown", check.limit_unknown},
          {"invalidates", check.invalidates}};
}

ordered_json socket_json(const race::SocketPlan& socket) {
  return {{"nodelay", or_null(socket.nodelay)},
          {"congestion", or_null(socket.congestion)},
          {"send_buffer_bytes", or_null(socket.send_buffer_bytes)},
          {"receive_buffer_bytes", or_null(socket.receive_buffer_bytes)},
          {"backlog", or_null(socket.backlog)}};
}

ordered_json load_json(const race::Case& one) {
  ordered_json json = plan_json(one.load);
  for (const LoadSetting& setting : load_settings())
    if (!setting.raced) json.erase(std::string(setting.json));  // the race has keys of its own for it
  json["rate_share"] = number(one.rate_share);
  return json;
}

ordered_json capacity_json(const std::optional<race::Capacity>& capacity) {
  if (!capacity) return nullptr;
  return {{"per_s", capacity->per_s}, {"contestant", capacity->contestant}, {"measured", capacity->measured}};
}

// Writes a whole value without a fraction.
ordered_json sweep_json(const std::optional<race::SweepPoint>& point) {
  if (!point) return nullptr;
  const bool whole = point->value == std::floor(point->value);
  return {
      {"axis", point->axis},
      {"value", whole ? ordered_json(static_cast<std::uint64_t>(point->value)) : ordered_json(point->value)},
      {"of", point->of}};
}

// A race that could only tell contestants apart of which one is more than twice the other knows no noise: two
// rounds give any number.
ordered_json told_difference(const race::Comparison& comparison) {
  return comparison.least_difference > stats::kTellsNothing ? ordered_json(nullptr)
                                                            : number(comparison.least_difference);
}

ordered_json case_json(const CaseResult& one) {
  ordered_json json{{"name", one.plan.name},
                    {"title", one.plan.title},
                    {"protocol", one.plan.protocol},
                    {"verified", one.verified.empty() ? ordered_json(nullptr) : ordered_json(one.verified)},
                    {"files", files_json(one.plan.files)},
                    {"options", one.plan.options},
                    {"load", load_json(one.plan)},
                    {"socket", socket_json(one.plan.socket)},
                    {"capacity", capacity_json(one.plan.capacity)},
                    {"sweep", sweep_json(one.plan.point)},
                    {"reference", one.reference},
                    {"ranked_by", ranking_figure(one)},
                    {"least_difference", told_difference(one.ranking)},
                    {"least_cost_difference", told_difference(one.costs)},
                    {"look", word_of(one.look)},
                    {"pairs", pairs_json(one, *one.latency, one.ranking, one.costs)},
                    {"looks_taken", looks_json(one)},
                    {"itself", itself_json(one)},
                    {"turns", one.plan.load.turns},
                    {"verdict", one.verdict}};
  if (!one.plan.plugin.empty()) json["plugin"] = one.plan.plugin;
  return json;
}

ordered_json scenario_json(const race::RaceResult& race) {
  const race::Scenario& scenario = race.scenario;
  return {{"file", scenario.file},
          {"text", race.scenario_text},
          {"title", scenario.title},
          {"description", scenario.description},
          {"rounds", scenario.rounds},
          {"precision", scenario.precision},
          {"least_difference", scenario.least_difference},
          {"time_s", scenario.rounds == 0 ? seconds(scenario.time) : nullptr},
          {"turn_s", seconds(scenario.turn)},
          {"quick", scenario.quick},
          {"cpus", {{"server", race.cpus.server}, {"client", race.cpus.client}}},
          {"socket", socket_json(scenario.socket)},
          {"limits",
           {{"connect_timeout_s", seconds(scenario.limits.connect_timeout)},
            {"request_timeout_s", seconds(scenario.limits.request_timeout)},
            {"idle_timeout_s", seconds(scenario.limits.idle_timeout)},
            {"trial_timeout_s", seconds(scenario.limits.trial_timeout)}}}};
}

std::size_t turns_of(const race::RaceResult& race) {
  std::size_t turns = 0;
  for (const CaseResult& one : race.cases)
    for (const Entry& entry : one.entries)
      for (const Trial& trial : entry.trials) turns += trial.turns.size();
  return turns;
}

// Returns the number of rounds in which contestants live side by side.
std::uint64_t generations_of(const race::RaceResult& race) {
  const bool any = std::ranges::any_of(race.cases, [](const CaseResult& one) { return one.plan.load.turns; });
  return any ? race.rounds : 0;
}

std::string verdict_text(const race::RaceResult& race) {
  if (race.cases.size() == 1) return race.cases.front().verdict;
  std::string text;
  for (const CaseResult& one : race.cases)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", one.plan.name, one.verdict);
  return text;
}

}  // namespace

std::string race_json(const race::RaceResult& race) {
  ordered_json cases = ordered_json::array(), checks = ordered_json::array(),
               contestants = ordered_json::array(), thresholds = ordered_json::array();
  for (const CaseResult& one : race.cases) {
    cases.push_back(case_json(one));
    for (const race::CheckResult& check : one.checks) checks.push_back(check_json(one, check));
    for (const Entry& entry : one.entries) contestants.push_back(contestant_json(one, entry));
    for (const race::ThresholdFinding& finding : one.thresholds)
      thresholds.push_back(threshold_json(one, finding));
  }
  const ordered_json document{{"schema", kRaceSchema},
                              {"joust", race.version},
                              {"started", race.started},
                              {"took_s", race.took_s},
                              {"command_line", race.command_line},
                              {"seed", race.seed},
                              {"rounds", race.rounds},
                              {"generations", generations_of(race)},
                              {"turns", turns_of(race)},
                              {"looks", race.looks},
                              {"rounds_again", race.rounds_again},
                              {"lost_hosts", race.lost_hosts},
                              {"complete", race.complete},
                              {"incomplete", race.incomplete},
                              {"exit_code", race::exit_code(race)},
                              {"exit_reason", race::exit_reason(race)},
                              {"verdict", verdict_text(race)},
                              {"thresholds", std::move(thresholds)},
                              {"scenario", scenario_json(race)},
                              {"cases", std::move(cases)},
                              {"checks", std::move(checks)},
                              {"contestants", std::move(contestants)},
                              {"environment", to_json(race.environment)},
                              {"network", race::network_sentence(race.hosts)},
                              {"hosts", hosts_json(race.hosts)}};
  // The last words of other programs may not be UTF-8. Invalid bytes must not cause the loss of the whole
  // result.
  return text_of(document, 1);
}

}  // namespace joust::report
