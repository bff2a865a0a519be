// SPDX-License-Identifier: MIT
#include "report/race_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/document.hpp"
#include "base/text.hpp"
#include "load/settings.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "race/judgement/judge.hpp"
#include "race/scenario/engine_choice.hpp"
#include "report/facts_json.hpp"
#include "report/race_trial_json.hpp"

namespace joust::report {
namespace {

using document::Json;
using race::CaseResult;
using race::Entry;

Json engine_json(const EngineChoice& choice) {
  Json json{{"engine", choice.engine}, {"threads", choice.threads}, {"wait", choice.wait}};
  if (choice.nodelay) json["nodelay"] = race::on_off(*choice.nodelay);
  if (choice.transport != EngineChoice().transport) json["transport"] = choice.transport;
  for (const auto& [knob, value] : choice.knobs) json[knob] = value;
  for (const auto& [option, value] : choice.options) json[option] = value;
  return json;
}

Json server_json(const race::Contestant& contestant) {
  if (!contestant.external()) return engine_json(contestant.server);
  Json json{{"engine", "external"}, {"command", contestant.command}};
  if (!contestant.ready.empty()) json["ready"] = contestant.ready;
  return json;
}

Json client_json(const race::Contestant& contestant) {
  if (contestant.transfer.empty()) return engine_json(contestant.client);
  return {{"engine", "external"}, {"command", contestant.transfer}};
}

std::optional<double> seconds(const std::optional<Duration>& time) {
  if (!time) return std::nullopt;
  return std::chrono::duration<double>(*time).count();
}

// Returns a bound that is known.
std::optional<double> known(double bound) {
  return std::isfinite(bound) ? std::optional(bound) : std::nullopt;
}

std::optional<document::Estimate> estimate_of(const std::optional<race::Estimate>& estimate) {
  if (!estimate) return std::nullopt;
  document::Estimate made{.median = estimate->median,
                          .low = known(estimate->interval.low),
                          .high = known(estimate->interval.high)};
  if (estimate->interval.is_known()) made.confidence = estimate->confidence;
  return made;
}

document::LatencyEstimates estimates_of(const race::LatencyEstimates& estimates) {
  return {.mean = estimate_of(estimates.mean),
          .p50 = estimate_of(estimates.p50),
          .p99 = estimate_of(estimates.p99),
          .p999 = estimate_of(estimates.p999)};
}

// Returns the figures of all trials' samples together.
document::Latency latency_of(const Distribution& values) {
  document::Latency latency{.samples = values.count()};
  const auto percentile = [&](const char* name, double quantile) -> std::optional<double> {
    const auto value = values.percentile(quantile);
    if (!value) return std::nullopt;
    if (values.few_beyond(quantile)) latency.few_beyond.emplace_back(name);
    return static_cast<double>(*value);
  };
  latency.p50 = percentile("p50", 0.5);
  latency.p90 = percentile("p90", 0.9);
  latency.p99 = percentile("p99", 0.99);
  latency.p999 = percentile("p999", 0.999);
  if (values.count() == 0) return latency;
  latency.mean = values.mean();
  latency.max = static_cast<double>(values.max());
  return latency;
}

std::optional<document::Schedule> schedule_of(const std::optional<race::ScheduleSummary>& schedule) {
  if (!schedule) return std::nullopt;
  return document::Schedule{.kept_fraction = schedule->achieved.median,
                            .uncorrected_latency_ns = latency_of(schedule->uncorrected),
                            .send_lateness_ns = latency_of(schedule->lateness)};
}

document::Summary summary_of(const race::Summary& summary) {
  document::Latency latency = latency_of(summary.latency);
  latency.intervals = estimates_of(summary.latency_by_round);
  return {.trials = summary.trials,
          .throughput_per_s = estimate_of(summary.throughput_per_s),
          .mb_per_s = summary.mb_per_s,
          .deliveries_per_s = summary.deliveries_per_s,
          .ratio = estimate_of(summary.ratio),
          .server_cpu_us_per_message = estimate_of(summary.server_cpu_us_per_message),
          .cost_us_per_message = estimate_of(summary.cost_us_per_message),
          .cost_ratio = estimate_of(summary.cost_ratio),
          .latency_ns = std::move(latency),
          .latency_ratio = estimates_of(summary.latency_ratio),
          .schedule = schedule_of(summary.schedule),
          .loss = summary.loss,
          .server_utilisation = estimate_of(summary.server_utilisation),
          .client_utilisation = estimate_of(summary.client_utilisation),
          .cpu_us_per_message = summary.cpu_us_per_message,
          .busy_us_per_message = summary.busy_us_per_message,
          .switches_per_message = summary.switches_per_message,
          .system_calls_per_message = summary.system_calls_per_message,
          .peak_memory_bytes = summary.peak_memory_bytes};
}

document::Ratio ratio_of(const stats::Ratio& ratio) {
  return {.estimate = known(ratio.estimate),
          .low = known(ratio.interval.low),
          .high = known(ratio.interval.high)};
}

std::optional<document::Ratio> ratio_of(const std::optional<stats::Ratio>& ratio) {
  return ratio ? std::optional(ratio_of(*ratio)) : std::nullopt;
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
std::vector<document::Pair> pairs_of(const CaseResult& one, const race::LatencyFigure& latency,
                                     const race::Comparison& ranking, const race::Comparison& costs) {
  std::vector<document::Pair> pairs;
  const auto add = [&](const race::Comparison& comparison, const char* figure) {
    for (const race::Pair& pair : comparison.pairs)
      pairs.push_back({.a = pair.a,
                       .b = pair.b,
                       .figure = figure,
                       .ratio = ratio_of(pair.ratio),
                       .chance = pair.ratio.chance,
                       .rounds = pair.ratio.rounds,
                       .understated = pair.understated,
                       .all_turns = ratio_of(pair.all_turns),
                       .decision = pair.decision});
  };
  add(ranking, ranking_figure(one, latency));
  add(costs, cost_figure(one));
  return pairs;
}

std::vector<document::TakenLook> looks_of(const CaseResult& one) {
  std::vector<document::TakenLook> looks;
  for (const race::TakenLook& taken : one.looks_taken)
    looks.push_back({.look = taken.look,
                     .rounds = taken.rounds,
                     .at_s = taken.at_s,
                     .precise = taken.precise,
                     .uneven = taken.uneven,
                     .pairs = pairs_of(one, *taken.latency, taken.ranking, taken.costs)});
  return looks;
}

document::Threshold threshold_of(const CaseResult& one, const race::ThresholdFinding& finding) {
  return {.case_ = one.plan.name,
          .contestant = finding.contestant,
          .reference = finding.reference,
          .figure = finding.is_cost ? cost_figure(one) : ranking_figure(one),
          .ratio = ratio_of(finding.ratio),
          .fails = finding.fails,
          .limit = finding.limit,
          .decision = finding.standing,
          .sentence = finding.sentence};
}

document::CallCount call_count_of(const race::CallCount& calls) {
  if (!calls.server && !calls.client) return {.reason = calls.reason};
  return {
      .server = calls.server, .client = calls.client, .messages = calls.messages, .window_s = calls.window_s};
}

document::Contestant contestant_of(const CaseResult& one, const Entry& entry) {
  document::Contestant contestant{.name = entry.contestant.name,
                                  .case_ = one.plan.name,
                                  .kind = entry.kind,
                                  .server = server_json(entry.contestant),
                                  .client = client_json(entry.contestant),
                                  .ranked = entry.ranked,
                                  .reason = entry.reason,
                                  .at_least = entry.at_least,
                                  .limit_unknown = entry.limit_unknown,
                                  .place = entry.place,
                                  .cost_place = entry.cost_place,
                                  .call_count = call_count_of(entry.calls),
                                  .summary = summary_of(entry.summary),
                                  .warmup_s = seconds(entry.contestant.warmup),
                                  .ready_timeout_s = seconds(entry.contestant.ready_timeout)};
  for (const race::Trial& trial : entry.trials) contestant.trials.push_back(trial_of(trial, one.plan));
  return contestant;
}

document::Check check_of(const CaseResult& one, const race::CheckResult& check) {
  return {.id = static_cast<std::uint64_t>(check.id),
          .case_ = one.plan.name,
          .title = check.title,
          .verdict = static_cast<document::Verdict>(check.verdict),
          .detail = check.detail,
          .not_ranked = check.bars,
          .at_least = check.at_least,
          .limit_unknown = check.limit_unknown,
          .invalidates = check.invalidates};
}

Json load_json(const race::Case& one) {
  Json json = plan_json(one.load);
  for (const LoadSetting& setting : load_settings())
    if (!setting.raced) json.erase(std::string(setting.json));  // the race has keys of its own for it
  json["rate_share"] = to_document(one.rate_share);
  return json;
}

// A race that could only tell contestants apart of which one is more than twice the other knows no noise: two
// rounds give any number.
std::optional<double> told_difference(const race::Comparison& comparison) {
  if (comparison.least_difference > stats::kTellsNothing) return std::nullopt;
  return known(comparison.least_difference);
}

document::Case case_of(const CaseResult& one) {
  document::Case made{.name = one.plan.name,
                      .title = one.plan.title,
                      .protocol = one.plan.protocol,
                      .verified = std::optional<std::string>(),
                      .files = one.plan.files,
                      .options = one.plan.options,
                      .load = load_json(one.plan),
                      .socket = one.plan.socket,
                      .reference = one.reference,
                      .ranked_by = ranking_figure(one),
                      .least_difference = told_difference(one.ranking),
                      .least_cost_difference = told_difference(one.costs),
                      .look = one.look,
                      .pairs = pairs_of(one, *one.latency, one.ranking, one.costs),
                      .looks_taken = looks_of(one),
                      .turns = one.plan.load.turns,
                      .verdict = one.verdict,
                      .causes = one.causes};
  if (!one.verified.empty()) made.verified = one.verified;
  if (const auto& capacity = one.plan.capacity)
    made.capacity = document::Capacity{
        .per_s = capacity->per_s, .contestant = capacity->contestant, .measured = capacity->measured};
  if (const auto& point = one.plan.point)
    made.sweep = document::SweepPoint{.axis = point->axis, .value = {point->value}, .of = point->of};
  made.itself[ranking_figure(one)] = ratio_of(one.ranking.itself);
  made.itself[cost_figure(one)] = ratio_of(one.costs.itself);
  if (!one.plan.plugin.empty()) made.plugin = one.plan.plugin;
  return made;
}

document::Scenario scenario_of(const race::RaceResult& race) {
  const race::Scenario& scenario = race.scenario;
  return {.file = scenario.file,
          .text = race.scenario_text,
          .title = scenario.title,
          .description = scenario.description,
          .rounds = scenario.rounds,
          .precision = scenario.precision,
          .least_difference = scenario.least_difference,
          .time_s = scenario.rounds == 0 ? seconds(scenario.time) : std::nullopt,
          .turn_s = seconds(scenario.turn),
          .quick = scenario.quick,
          .cpus = {.server = race.cpus.server, .client = race.cpus.client},
          .socket = scenario.socket,
          .limits = {.connect_timeout_s = seconds(scenario.limits.connect_timeout),
                     .request_timeout_s = seconds(scenario.limits.request_timeout),
                     .idle_timeout_s = seconds(scenario.limits.idle_timeout),
                     .trial_timeout_s = seconds(scenario.limits.trial_timeout)}};
}

nlohmann::ordered_map<std::string, std::string> facts_of(const Environment& environment) {
  nlohmann::ordered_map<std::string, std::string> facts;
  facts["fingerprint"] = environment.fingerprint();
  for (const Environment::Item& item : environment.items) facts[item.name] = item.value;
  return facts;
}

document::Host host_of(const race::HostOfRace& host) {
  document::Host made{.name = host.name,
                      .machine = host.machine,
                      .boot_id = host.boot_id,
                      .side = host.side,
                      .cpus = host.cpus,
                      .address = host.address,
                      .network = {.interface_ = host.network.name,
                                  .driver = host.network.driver,
                                  .mtu_bytes = host.network.mtu_bytes,
                                  .speed_mbit_per_s = host.network.speed_mbit_per_s,
                                  .offloads = host.network.offloads},
                      .round_trip_s = host.round_trip_s,
                      .clock_offset_s = host.clock_offset_s,
                      .clock_error_s = host.clock_error_s,
                      .environment = facts_of(host.environment)};
  if (const auto& begins = host.begins)
    made.begins =
        document::Begins{.turns = begins->turns, .late = begins->late, .latest_s = *seconds(begins->latest)};
  return made;
}

std::size_t turns_of(const race::RaceResult& race) {
  std::size_t turns = 0;
  for (const CaseResult& one : race.cases)
    for (const Entry& entry : one.entries)
      for (const race::Trial& trial : entry.trials) turns += trial.turns.size();
  return turns;
}

// Returns the number of rounds in which contestants live side by side.
std::uint64_t generations_of(const race::RaceResult& race) {
  const bool any = std::ranges::any_of(race.cases, [](const CaseResult& one) { return one.plan.load.turns; });
  return any ? race.rounds : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string verdict_text(const race::RaceResult& race) {
  if (race.cases.size() == 1) return race.cases.front().verdict;
  std::string text;
  for (const CaseResult& one : race.cases)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", one.plan.name, one.verdict);
  return text;
}

}  // namespace

document::Race document_of(const race::RaceResult& race) {
  document::Race made{.joust = race.version,
                      .started = race.started,
                      .took_s = race.took_s,
                      .command_line = race.command_line,
                      .seed = race.seed,
                      .rounds = race.rounds,
                      .generations = generations_of(race),
                      .turns = turns_of(race),
                      .looks = race.looks,
                      .rounds_again = race.rounds_again,
                      .lost_hosts = race.lost_hosts,
                      .complete = race.complete,
                      .incomplete = race.incomplete,
                      .exit_code = race::exit_code(race),
                      .exit_reason = race::exit_reason(race),
                      .verdict = verdict_text(race),
                      .thresholds = std::vector<document::Threshold>(),
                      .scenario = scenario_of(race),
                      .environment = facts_of(race.environment),
                      .network = race::network_sentence(race.hosts),
                      .hosts = std::vector<document::Host>()};
  for (const CaseResult& one : race.cases) {
    made.cases.push_back(case_of(one));
    for (const race::CheckResult& check : one.checks) made.checks.push_back(check_of(one, check));
    for (const Entry& entry : one.entries) made.contestants.push_back(contestant_of(one, entry));
    for (const race::ThresholdFinding& finding : one.thresholds)
      made.thresholds->push_back(threshold_of(one, finding));
  }
  for (const race::HostOfRace& host : race.hosts) made.hosts->push_back(host_of(host));
  // The last words of other programs may not be UTF-8.
  documents::each_text(made, [](std::string& text) {
    if (!is_utf8(text))
      text = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  });
  return made;
}

// Invalid bytes in a key, such as a contestant's name, must not cause the loss of the whole result.
std::string race_json(const document::Race& race) {
  return text_of(to_document(race), 1);
}

std::string race_json(const race::RaceResult& race) {
  return race_json(document_of(race));
}

}  // namespace joust::report
