// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "joust/settings.hpp"
#include "measure/machine_cpu.hpp"
#include "measure/processes.hpp"
#include "race/model/result.hpp"

// The document of a race: what `race --json` writes (base/document.hpp), and what the page and its other
// forms, the history, comparisons and merges read. docs/result.schema.json is made from these structs, and
// describes every key with its unit (tests/report/schema.hpp). A member that is Rare, and always written, is
// missing in documents of earlier versions.
namespace joust::report::document {

using Json = nlohmann::ordered_json;

// The version of the document, its key "schema".
inline constexpr const char* kRaceSchema = "joust-race/4";
// The version before. It has fewer decisions of pairs, and is read as well.
inline constexpr const char* kOldRaceSchema = "joust-race/3";

enum class Verdict : std::uint8_t { PASS, WARN, REFUSE };
enum class TurnUnit : std::uint8_t { time, transfer, message };

// The middle of a figure over rounds. For a ratio it is the geometric mean.
struct Estimate {
  double median = 0;
  std::optional<double> low{}, high{}, confidence{};
};
struct Ratio {
  std::optional<double> estimate{}, low{}, high{};
};
struct LatencyEstimates {
  std::optional<Estimate> mean{}, p50{}, p99{}, p999{};
};
// The latencies of all trials' samples together.
struct Latency {
  std::optional<double> mean{}, p50{}, p90{}, p99{}, p999{}, max{};
  std::uint64_t samples = 0;
  bool merged = true;
  std::vector<std::string> few_beyond{};  // percentiles that few samples lie beyond
  Rare<LatencyEstimates> intervals{};     // medians over rounds
};
struct Schedule {
  double kept_fraction = 0;
  Latency uncorrected_latency_ns{}, send_lateness_ns{};
};
struct Summary {
  std::uint64_t trials = 0;
  std::optional<Estimate> throughput_per_s{};
  std::optional<double> mb_per_s{};
  Rare<std::optional<double>> deliveries_per_s{};
  std::optional<Estimate> ratio{}, server_cpu_us_per_message{}, cost_us_per_message{}, cost_ratio{};
  Latency latency_ns{};
  LatencyEstimates latency_ratio{};
  std::optional<Schedule> schedule{};
  std::optional<race::Loss> loss{};
  std::optional<Estimate> server_utilisation{}, client_utilisation{};
  race::Sides cpu_us_per_message{};
  std::optional<double> busy_us_per_message{};
  race::Sides switches_per_message{}, system_calls_per_message{}, peak_memory_bytes{};
};

struct CpuShares {
  double busy_fraction = 0, steal_fraction = 0, softirq_fraction = 0, cpu_s = 0;
};
struct ClockRates {  // in MHz
  double least = 0, most = 0;
};
struct Scheduling {
  std::vector<ThreadGroup> server{}, client{};
};
// A value for each turn: a trial has hundreds of them.
struct Turns {
  TurnUnit unit{};
  std::optional<std::uint64_t> count{};
  std::vector<std::uint64_t> round{}, order{};
  std::vector<double> start{}, window_s{};
  std::vector<std::uint64_t> verified{};
  Rare<std::vector<std::uint64_t>> latency_sum_ns{}, failed{};
  std::vector<double> turn_s{};
  std::vector<std::uint64_t> messages{};
  std::vector<double> server_cpu_s{}, client_cpu_s{};
  Rare<std::vector<std::optional<double>>> steal_s{};
};
struct TrialServer {
  std::optional<double> cpu_user_s{}, cpu_system_s{};
  std::optional<std::uint64_t> peak_memory_bytes{}, voluntary_switches{}, involuntary_switches{};
  std::optional<std::int64_t> system_calls{};
  std::optional<std::uint64_t> bytes_received{}, bytes_sent{};
  Settings socket{};
  std::map<std::string, std::uint64_t> errors{};
  std::vector<std::string> missing{}, notes{};
  Rare<std::string> cpu_unknown{}, system_calls_reason{};
};
struct TrialClient {
  std::optional<std::int64_t> system_calls{};
};
// In the format of HdrHistogram.
struct Histograms {
  std::string latency{};
  Rare<std::string> uncorrected_latency{}, send_lateness{};
};
// The levels of turns without disturbed ones.
struct QuietTurns {
  std::optional<double> throughput_per_s{}, server_cpu_us_per_message{};
};
struct Trial {
  std::uint64_t round = 0, attempt = 0, position = 0;
  bool counted = true, disturbed = false, late = false;
  Json load{};  // joust-load/1 without histograms, or TransferTrial; null if there is none
  TrialServer server{};
  TrialClient client{};
  std::optional<CpuShares> machine{}, pinned_cpus{};
  std::optional<Throttling> throttled{};
  std::optional<ClockRates> clock_mhz{};
  Rare<Histograms> histograms{};
  Rare<Turns> turns{};
  Rare<race::Sides> busiest_thread{};
  Rare<std::optional<double>> throughput_per_s{}, server_cpu_us_per_message{};
  Rare<QuietTurns> quiet_turns{};
  Rare<double> cpu_s_at_rest{};
  Rare<Scheduling> scheduling{};
  Rare<std::string> failure{};
  Rare<std::vector<std::string>> last_words{};
};

// The result of a command that moves files, in the place of a load's: joust-transfer-trial/1.
struct TransferTrial {
  struct Cpu {
    double system_s = 0, user_s = 0;
  };
  struct Files {
    std::uint64_t bytes = 0, count = 0;
    std::string on{};
  };
  struct Switches {
    std::uint64_t involuntary = 0, voluntary = 0;
  };

  Cpu cpu{};
  double duration_s = 0;
  std::uint64_t failed = 0;
  Files files{};
  std::optional<double> mb_per_s{};
  std::vector<std::string> messages_of_errors{};
  std::string schema = "joust-transfer-trial/1";
  Switches switches{};
  double throughput_per_s = 0;
  std::uint64_t verified = 0;
};

struct CallCount {
  Rare<std::string> reason{};  // why there is none
  Rare<std::optional<double>> server{}, client{};
  Rare<std::uint64_t> messages{};
  Rare<double> window_s{};
};
struct Contestant {
  std::string name{}, case_{};
  race::EntryKind kind{};
  Json server{}, client{};  // engine, threads, wait, and knobs and options by their names
  bool ranked = false;
  std::string reason{};
  bool at_least = false;
  Rare<bool> limit_unknown{};
  std::optional<stats::Places> place{}, cost_place{};
  std::vector<Trial> trials{};
  Rare<CallCount> call_count{};
  Summary summary{};
  Rare<double> warmup_s{}, ready_timeout_s{};
};

struct Check {
  std::uint64_t id = 0;
  std::string case_{}, title{};
  Verdict verdict{};
  std::string detail{};
  std::map<std::string, std::string> not_ranked{};
  std::vector<std::string> at_least{};
  Rare<std::vector<std::string>> limit_unknown{};
  bool invalidates = false;
};
struct Pair {
  std::string a{}, b{}, figure{};
  Ratio ratio{};
  double chance = 0;
  std::uint64_t rounds = 0;
  bool understated = false;
  Rare<std::optional<Ratio>> all_turns{};
  stats::Decision decision{};
};
struct TakenLook {
  stats::Look look{};
  std::uint64_t rounds = 0;
  double at_s = 0;
  bool precise = false;
  Rare<std::vector<std::string>> uneven{};
  std::vector<Pair> pairs{};
};
struct Capacity {
  double per_s = 0;
  std::string contestant{};
  Rare<std::map<std::string, double>> measured{};
};
// A number that is written without a fraction if it is whole.
struct Plain {
  double value = 0;
};
struct SweepPoint {
  std::string axis{};
  Plain value{};
  std::string of{};
};
struct Case {
  std::string name{}, title{}, protocol{};
  Rare<std::optional<std::string>> verified{};
  std::optional<race::FilePlan> files{};
  Settings options{};
  Json load{};  // the settings of the load (load/settings.hpp), and "rate_share"
  race::SocketPlan socket{};
  std::optional<Capacity> capacity{};
  std::optional<SweepPoint> sweep{};
  std::string reference{}, ranked_by{};
  std::optional<double> least_difference{}, least_cost_difference{};
  stats::Look look{};
  std::vector<Pair> pairs{};
  Rare<std::vector<TakenLook>> looks_taken{};
  nlohmann::ordered_map<std::string, std::optional<Ratio>> itself{};  // by figure
  bool turns = false;
  std::string verdict{};
  Rare<std::vector<race::Cause>> causes{};
  Rare<std::string> plugin{};
};

struct Threshold {
  std::string case_{}, contestant{}, reference{}, figure{};
  std::optional<Ratio> ratio{};
  race::Fails fails{};
  double limit = 0;
  race::Standing decision{};
  std::string sentence{};
};
struct Cpus {
  std::string server{}, client{};
};
struct Limits {
  std::optional<double> connect_timeout_s{}, request_timeout_s{}, idle_timeout_s{}, trial_timeout_s{};
};
struct Scenario {
  std::string file{};
  Rare<std::string> text{};
  std::string title{}, description{};
  std::uint64_t rounds = 0;
  Rare<double> precision{}, least_difference{};
  Rare<std::optional<double>> time_s{}, turn_s{};
  bool quick = false;
  Cpus cpus{};
  race::SocketPlan socket{};
  Limits limits{};
};
struct Network {
  std::string interface_{}, driver{};
  std::uint64_t mtu_bytes = 0;
  std::optional<std::uint64_t> speed_mbit_per_s{};
  std::vector<std::string> offloads{};
};
struct Begins {
  std::uint64_t turns = 0, late = 0;
  double latest_s = 0;
};
struct Host {
  std::string name{}, machine{}, boot_id{}, side{}, cpus{}, address{};
  Network network{};
  std::optional<double> round_trip_s{}, clock_offset_s{}, clock_error_s{};
  std::optional<Begins> begins{};
  nlohmann::ordered_map<std::string, std::string> environment{};
};
struct Race {
  std::string schema = kRaceSchema;
  std::string joust{}, started{};  // the version of the program
  double took_s = 0;
  std::vector<std::string> command_line{};
  std::uint64_t seed = 0, rounds = 0, generations = 0, turns = 0, looks = 0, rounds_again = 0;
  Rare<std::vector<std::string>> lost_hosts{};
  bool complete = false;
  std::string incomplete{};
  Rare<std::int64_t> exit_code{};
  Rare<std::string> exit_reason{};
  std::string verdict{};
  Rare<std::vector<Threshold>> thresholds{};
  Scenario scenario{};
  std::vector<Case> cases{};
  std::vector<Check> checks{};
  std::vector<Contestant> contestants{};
  nlohmann::ordered_map<std::string, std::string> environment{};
  Rare<std::string> network{};
  Rare<std::vector<Host>> hosts{};
};

}  // namespace joust::report::document

template <>
struct joust::documents::Form<joust::report::document::Plain> {
  static Json of(const report::document::Plain& number) {
    if (number.value != std::floor(number.value)) return number.value;
    return static_cast<std::uint64_t>(number.value);
  }
  static report::document::Plain from(const Json& number, const std::string& way) {
    report::document::Plain plain;
    read(number, way, plain.value);
    return plain;
  }
};
