// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/environment.hpp"
#include "measure/machine_cpu.hpp"
#include "measure/usage.hpp"
#include "race/scenario/scenario.hpp"
#include "stats/bootstrap.hpp"

// What a race has recorded and what follows from it. Checks, tables and documents are functions of these.
namespace joust::race {

struct BuildInfo {
  std::string type{};        // "Release"
  std::string sanitizers{};  // empty: none
  std::string version{};
  bool operator==(const BuildInfo&) const = default;
};

// A percentile is absent when too few samples lie beyond it.
struct Latency {
  std::optional<double> mean{}, p50{}, p90{}, p99{}, p999{}, max{};
  std::uint64_t samples = 0;
  bool merged = false;               // of the samples of all trials together, not medians of trials' figures
  std::vector<std::string> shaky{};  // the percentiles beyond which there are few samples: "p999"
};

// The ends of the timed window on CLOCK_MONOTONIC, which all processes of a machine share.
struct TimedWindow {
  std::int64_t from = 0, to = 0;
};

// What the load child has said. The figures are those of the timed window, except where a name says
// otherwise.
struct LoadResult {
  std::string document{};  // the whole of it, as JSON
  std::uint64_t connections_ok = 0, connections_failed = 0;
  std::optional<std::uint64_t> connections_answered{};  // had a reply in the timed window
  std::optional<std::uint64_t> oldest_open_ns{};        // age of the oldest request when the window closed
  std::uint64_t sent = 0, verified = 0, failed = 0, in_flight = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t run_bytes_sent = 0, run_bytes_received = 0;  // the whole run, warm-up included
  double duration_s = 0, throughput_per_s = 0;
  std::optional<double> mb_per_s{};  // of protocols that carry files: millions of their bytes a second
  std::optional<TimedWindow> window_ns{};
  Latency latency_ns{};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> histogram_ns{};  // latencies and how often; may lack
  std::vector<double> slices{};  // messages verified in each equal part of the window
  Usage usage{};
  std::uint64_t threads = 1;
  std::string engine{}, wait{};
  Settings knobs{};
  BuildInfo build{};
  Settings socket{};                              // read back from the kernel
  std::map<std::string, std::uint64_t> errors{};  // by stage
  std::vector<std::string> messages_of_errors{};
  std::map<std::string, std::uint64_t> deliveries{};  // of a broadcast, the whole run's: expected, lost ...
  std::vector<std::string> missing{};                 // kernel features the engine had to do without
  std::vector<std::string> notes{};
};

// The document of `joust load --json`; the error says which key is missing or wrong.
std::expected<LoadResult, std::string> parse_load(const std::string& json);

// What is known of the server's side. Of an external server that is its usage only.
struct ServerResult {
  std::optional<Usage> usage{};  // the timed window's; absent in process and when it could not be read
  std::string engine{}, wait{};  // as the child says it runs, which is not always as it was asked to
  std::uint64_t threads = 0;
  Settings knobs{};
  BuildInfo build{};
  Settings socket{};
  std::uint64_t connections_failed = 0;
  std::optional<std::uint64_t> bytes_received{}, bytes_sent{};  // the whole run's
  std::map<std::string, std::uint64_t> errors{};
  std::vector<std::string> missing{};  // kernel features the engine had to do without
  std::vector<std::string> notes{};
};

// One contestant measured once, in fresh processes.
struct Trial {
  std::uint64_t round = 0;     // from 1
  std::uint64_t attempt = 1;   // of the round; above 1 when a disturbed round was run again
  std::uint64_t position = 0;  // in the round's order, from 1
  bool disturbed = false;      // neighbours or other processes had more of the machine than a trial can bear
  bool late = false;           // usage and calls were not read in time, and are not known
  bool counted = true;         // false: shown, but another attempt of its round is used
  std::optional<LoadResult> load{};
  ServerResult server{};
  std::optional<MachineCpu> machine{};                   // the whole machine during the timed window
  std::optional<double> server_calls{}, client_calls{};  // system calls in the timed window
  std::string calls_reason{};                            // why one is absent
  std::string failure{};                                 // what went wrong, in words; empty: nothing did
  std::vector<std::string> last_words{};                 // the end of what a failed child wrote on stderr
  bool refused = false;                                  // a child called it wrong usage: nobody can run it
  bool interrupted = false;                              // by the user; not the contestant's fault

  // A result that statistics may use: figures per message need a message.
  bool measured() const { return failure.empty() && !interrupted && load && load->verified > 0; }
};

// System calls per verified message, counted in a pass of their own because counting slows every call.
struct CallCount {
  std::optional<double> server_per_message{}, client_per_message{};
  std::string reason{};  // why one is absent
};

// The median of rounds and where it may lie; the interval is not known from a single round.
struct Estimate {
  double median = 0;
  stats::Interval interval{};
  double confidence = 0;  // that the interval holds the truth: 0.95, less where rounds are few
};

struct Sides {
  std::optional<double> server{}, client{};
};

// A contestant over its counted trials: medians of trials, with intervals.
struct Summary {
  std::size_t trials = 0;
  std::optional<Estimate> throughput_per_s{};
  std::optional<double> mb_per_s{};
  std::optional<Estimate> ratio{};  // to the reference, paired within rounds
  Latency latency_ns{};
  Sides cpu_us_per_message{}, switches_per_message{}, system_calls_per_message{}, peak_memory_bytes{};
};

// Why an entry takes part: as a contestant, as the reference once more (A/A), or as the generator's ceiling.
enum class EntryKind { contestant, again, ceiling };

// What follows the reference's name in its second entry.
inline constexpr const char* kAgain = " (again)";

struct Entry {
  EntryKind kind = EntryKind::contestant;
  Contestant contestant{};
  std::string repeats{};  // of the second entry: the contestant that answers for its faults
  bool in_process = false;
  bool server_polled = false, client_polled = false;  // a thread of the kernel polls beside each of its loops
  Settings server_options{}, client_options{};        // of the protocol; in process the client has both
  std::string unavailable{};                          // why it cannot run; then it has no trials
  std::vector<Trial> trials{};
  CallCount calls{};
  std::size_t failures = 0;  // trials without a result
  Summary summary{};
  bool ranked = true;
  bool at_least = false;           // the generator limited it: its figure is a lower bound
  std::string reason{};            // why it is not ranked
  std::optional<int> tie_group{};  // from 1, the fastest first; entries of one group cannot be told apart

  bool is_contestant() const { return kind == EntryKind::contestant; }
};

enum class Verdict { pass, warn, refuse };

// An honesty check's finding. `bars` names contestants it keeps from being ranked, with the reason.
struct CheckResult {
  int id = 0;
  std::string title{};
  Verdict verdict = Verdict::pass;
  std::string detail{};
  std::map<std::string, std::string> bars{};
  std::vector<std::string> at_least{};  // contestants whose figure is only a lower bound
  bool invalidates = false;             // the whole measurement, not only some contestants
};

struct CaseResult {
  Case plan{};
  std::string verified = "byte for byte";  // how the protocol's replies are checked
  std::string reference{};  // the contestant the ratios are to; empty when none could be measured
  std::string no_ceiling{};  // why the generator's is not measured; empty when it is
  std::vector<Entry> entries{};
  std::vector<CheckResult> checks{};
  double least_difference = 0;  // of ratios, that can be told here: 0.02 is 2 %
  std::string verdict{};        // in plain words
};

struct RaceResult {
  Scenario scenario{};
  std::string version{};
  std::uint64_t seed = 0;
  std::uint64_t rounds = 0;  // finished
  std::uint64_t rounds_again = 0;
  bool complete = false;
  std::string incomplete{};  // why
  std::string refused{};     // what a child said of arguments that cannot be: there is nothing to report
  Environment environment{};
  CpuPlan cpus{};  // where the children ran
  std::vector<CaseResult> cases{};
};

// The trials that statistics may use: counted, and with a result.
std::vector<const Trial*> usable_trials(const Entry& entry);

// The second entry of the case's reference; null when it has none. When the planned reference gave no result
// and the ratios are to another contestant, the second entry is still the planned one's.
const Entry* second_entry(const CaseResult& result);

// Null when there is none of that name and kind.
const Entry* find_entry(const CaseResult& result, const std::string& name,
                        EntryKind kind = EntryKind::contestant);

}  // namespace joust::race
