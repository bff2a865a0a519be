// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "joust/time.hpp"
#include "measure/environment.hpp"
#include "measure/network_interface.hpp"
#include "race/model/scenario.hpp"
#include "race/model/trial.hpp"
#include "stats/comparison.hpp"
#include "stats/intervals.hpp"

// The recorded data of a race, and the conclusions. Checks, tables and documents are functions of these.
namespace joust::race {

// The middle of a figure over rounds, with its interval.
struct Estimate {
  double median = 0;  // the median; for a ratio the geometric mean
  stats::Interval interval{};
  double confidence = 0;  // the coverage reached: of a ratio, that of all comparisons of the case together
};

// Two contestants, compared by one figure.
struct Pair {
  std::string a{}, b{};  // their names
  stats::Ratio ratio{};  // a to b
  stats::Decision decision = stats::Decision::undecided;
  // The true difference may be greater, because the load was the limit of one. `decision` is then what the
  // figures prove.
  bool understated = false;
  // The ratio over all turns, where that of the quiet turns alone says that both are equal. `decision` is
  // then undecided: stalls of their own may tell them apart.
  std::optional<stats::Ratio> all_turns{};
};

// All contestants of a case, compared by one figure.
struct Comparison {
  std::vector<Pair> pairs{};             // of every two
  stats::Measure measure{};              // `least` is raised where the reference differs from itself by more
  double least_difference = 0;           // what such a race tells in half of all cases: 0.02 is 2 %
  std::optional<stats::Ratio> itself{};  // the reference's second entry to its first
  bool reference_differs = false;        // it differs

  // Returns the pair with `name` as its `a`, turned round if necessary. Nothing if it was not compared.
  std::optional<Pair> of(const std::string& name, const std::string& other) const;
};

// Latency figures over rounds. A round's figure is from one trial's samples, all turns together.
struct LatencyEstimates {
  std::optional<Estimate> mean{}, p50{}, p99{}, p999{};
};

// The latency figures that are compared between contestants.
struct LatencyFigure {
  const char* name;                // in documents: "p99"
  const char* title;               // of a column: "p99.9"
  const char* words;               // in texts: "p99 latency"
  std::optional<double> quantile;  // nothing: the mean
  std::optional<Estimate> LatencyEstimates::*estimate;

  // Returns nothing where too few samples lie beyond the percentile.
  std::optional<double> of(const Distribution& latencies) const;
};
inline constexpr LatencyFigure kLatencyFigures[] = {
    {"mean", "mean", "mean latency", {}, &LatencyEstimates::mean},
    {"p50", "p50", "median latency", 0.5, &LatencyEstimates::p50},
    {"p99", "p99", "p99 latency", 0.99, &LatencyEstimates::p99},
    {"p999", "p99.9", "p99.9 latency", 0.999, &LatencyEstimates::p999}};
inline constexpr const LatencyFigure &kMeanLatency = kLatencyFigures[0], &kMedianLatency = kLatencyFigures[1],
                                     &kP99Latency = kLatencyFigures[2], &kP999Latency = kLatencyFigures[3];

struct ScheduleSummary {                   // figures of an open loop
  Estimate achieved{};                     // LoadResult::achieved()
  Distribution uncorrected{}, lateness{};  // all trials' samples together
};

// A contestant's counted trials: medians with intervals.
struct Summary {
  std::size_t trials = 0;
  std::optional<Estimate> throughput_per_s{};
  std::optional<double> mb_per_s{}, deliveries_per_s{};  // file transfers only; rooms only
  std::optional<Estimate> ratio{};                       // to the reference, paired within rounds
  std::optional<Estimate> server_cpu_us_per_message{};
  // The CPU time by which contestants are compared: that of the server, or of a whole command, both sides'.
  std::optional<Estimate> cost_us_per_message{}, cost_ratio{};
  Distribution latency{};  // all trials' samples together
  LatencyEstimates latency_by_round{};
  LatencyEstimates latency_ratio{};  // to the reference, paired within rounds
  std::optional<ScheduleSummary> schedule{};
  std::optional<Loss> loss{};  // all trials together; lossy deliveries only
  std::optional<Estimate> server_utilisation{}, client_utilisation{};  // share of its CPUs that a side used
  Sides cpu_us_per_message{}, switches_per_message{}, system_calls_per_message{}, peak_memory_bytes{};
  std::optional<double> busy_us_per_message{};  // of the CPUs of both sides, whoever used them
};

// The role of an entry: contestant, the reference's second entry (A/A), or the generator's ceiling.
enum class EntryKind { contestant, again, ceiling };

// The suffix of the second entry's name.
inline constexpr const char* kAgain = " (again)";

// The address of an entry whose server listens on a unix socket, in a folder that each trial makes.
inline constexpr const char* kUnixSocket = "unix:PATH";

struct Entry {
  EntryKind kind = EntryKind::contestant;
  Contestant contestant{};
  std::string repeats{};  // in a second entry: the contestant charged with its faults
  bool in_process = false;
  bool server_polled = false, client_polled = false;  // a kernel thread polls beside each of its loops
  bool server_forks = false, client_forks = false;    // the usage is that of a tree of processes
  bool server_tcp = true, client_tcp = true;          // its sockets have the options of TCP
  std::string listen = "127.0.0.1:0";                 // where its server listens
  Settings server_options{}, client_options{};  // options of the protocol; in process the client has both
  std::string unavailable{};                    // why it cannot run; then there are no trials
  std::vector<Trial> trials{};
  CallCount calls{};
  std::size_t failures = 0;  // trials without a result
  Summary summary{};
  bool ranked = true;
  bool at_least = false;                      // the generator was the limit: the figure is a lower bound
  bool limit_unknown = false;                 // the generator may have been the limit: the rounds do not tell
  std::string reason{};                       // why it is not ranked
  std::optional<stats::Places> place{};       // by the figure that ranks the case; none if at_least
  std::optional<stats::Places> cost_place{};  // by CPU time; none if a side polls

  bool is_contestant() const { return kind == EntryKind::contestant; }
  // Returns whether its server may be faster than its throughput.
  bool may_be_faster() const { return at_least || limit_unknown; }
  // Returns whether a side is always busy because it polls, or a kernel thread polls for it. Its CPU time is
  // then that of the race, whatever a message costs.
  bool server_polls() const { return server_polled || contestant.server.wait != "block"; }
  bool polls() const { return server_polls() || client_polled || contestant.client.wait != "block"; }
};

enum class Verdict { pass, warn, refuse };

// The finding of a check. `bars` maps contestants excluded from the ranking to the reason.
struct CheckResult {
  int id = 0;
  std::string title{};
  Verdict verdict = Verdict::pass;
  std::string detail{};
  std::vector<std::string> warnings{};  // sentences of the detail that no other check tells
  std::map<std::string, std::string> bars{};
  std::vector<std::string> at_least{};       // contestants whose figure is a lower bound
  std::vector<std::string> limit_unknown{};  // contestants whose figure may be one
  bool invalidates = false;                  // the whole measurement, not only single contestants
};

// One cause that limits what a case tells, with what can be done about it. Several checks may have found it.
struct Cause {
  std::string sentence{};  // "Other programs used 41 % of the client's CPUs"
  std::string remedy{};    // "End them, or race when the machine is quiet."
  std::vector<std::int64_t> checks{};
};

// A look at the figures of a case while its race goes on (stats::Look), which may end the rounds of the case.
struct TakenLook {
  stats::Look look = stats::Look::first;
  std::uint64_t rounds = 0;                     // of the case, until then
  double at_s = 0;                              // from the begin of the race
  bool precise = false;                         // every ratio was precise enough: its rounds ended
  std::vector<std::string> uneven{};            // contestants whose figures counted all turns then (check 14)
  const LatencyFigure* latency = &kP99Latency;  // as CaseResult has it, from the rounds until then
  Comparison ranking{}, costs{};                // likewise
};

// The side of a threshold on which a contestant fails.
enum class Fails : std::uint8_t { below, above };
// The position of a ratio beside a threshold: `beyond` is on the side that fails.
enum class Standing : std::uint8_t { within, beyond, undecided };

// A contestant's ratio to the reference beside a threshold of the race.
struct ThresholdFinding {
  std::string contestant{}, reference{};
  bool is_cost = false;  // by CPU time per message; otherwise by the figure that ranks
  Fails fails = Fails::below;
  double limit = 0;
  std::optional<stats::Ratio> ratio{};  // empty where it is not known
  Standing standing = Standing::undecided;
  bool more_rounds_decide = false;  // it is undecided only because of the width of the interval
  std::string sentence{};
};

struct CaseResult {
  Case plan{};
  // How the protocol's replies are checked; empty if they are not: any reply counts.
  std::string verified = "byte for byte";
  std::string reference{};   // the contestant the ratios are to; empty if none was measured
  std::string no_ceiling{};  // why the ceiling is not measured; empty if it is
  std::vector<Entry> entries{};
  std::vector<CheckResult> checks{};
  stats::Look look = stats::Look::last;  // the look at which its rounds ended
  std::vector<TakenLook> looks_taken{};  // without the last one, which is the judgement
  Comparison ranking{};                  // by the figure that ranks the contestants
  Comparison costs{};                    // by CPU time per message
  std::vector<ThresholdFinding> thresholds{};
  std::string verdict{};        // in words
  std::vector<Cause> causes{};  // of what limits it

  // Returns whether latency ranks the contestants: it does where throughput is given. The figure is the 99th
  // percentile. Where trials have too few messages for it, as in rooms, it is the median or the mean.
  bool ranked_by_latency() const { return plan.open_loop(); }
  const LatencyFigure* latency = &kP99Latency;  // set by summarize()
};

// A turn that a host begins later than this counts as late: the ramp of the shortest turn, which is not
// measured, is twice as long.
inline constexpr Duration kLateBegin = std::chrono::milliseconds(2);

// How late a host has begun the turns that it began together with other hosts, by its own clock.
struct Begins {
  std::uint64_t turns = 0, late = 0;
  Duration latest{};

  void add(Duration lateness) {
    ++turns;
    if (lateness > kLateBegin) ++late;
    latest = std::max(latest, lateness);
  }
};

// A host of a race over several hosts, and the network by which it was measured.
struct HostOfRace {
  std::string name{};     // as the race calls it
  std::string machine{};  // as it calls itself
  std::string boot_id{};  // of its kernel: hosts with the same one share their CPUs
  std::string side{};     // "server" or "load"
  std::string cpus{};     // on which its side runs
  std::string address{};  // on the measured network
  NetworkInterface network{};
  // From a load's host to the server's, over the measured network; empty if it is not known.
  std::optional<double> round_trip_s{};
  // The offset of its monotonic clock to the conductor's, and its greatest error. Only of several loads,
  // which begin their turns together.
  std::optional<double> clock_offset_s{}, clock_error_s{};
  std::optional<Begins> begins{};
  Environment environment{};
};

struct RaceResult {
  Scenario scenario{};
  std::string scenario_text{};              // of the file; empty for a race described by flags
  std::vector<std::string> command_line{};  // of the program
  std::string started{};                    // UTC, "2026-01-31T09:30:00Z"
  double took_s = 0;                        // from the first process to the last
  std::string version{};
  std::uint64_t seed = 0;
  std::uint64_t rounds = 0;  // finished
  std::uint64_t rounds_again = 0;
  std::vector<std::string> lost_hosts{};  // why, for each round that was refused for it
  std::size_t looks = 1;  // how often the intervals decide, or could have decided, that the race ends
  bool complete = false;
  std::string incomplete{};  // why
  std::string refused{};     // a child's message about invalid arguments: there is nothing to report
  Environment environment{};
  CpuPlan cpus{};                   // where the children ran
  std::vector<HostOfRace> hosts{};  // of a race over several hosts: that of the servers, then those of loads
  std::vector<CaseResult> cases{};
};

// Selections of the entries, the trials and the rounds of a case.

// The trials that statistics may use: counted, with a result.
std::vector<const Trial*> usable_trials(const Entry& entry);

// The second entry of the planned reference, whichever the ratios are to; null if there is none.
const Entry* second_entry(const CaseResult& result);

// Returns null if no entry has that name and kind.
const Entry* find_entry(const CaseResult& result, const std::string& name,
                        EntryKind kind = EntryKind::contestant);

// Returns the contestants with trials, without the reference's second entry and the ceilings.
std::vector<const Entry*> contestants_of(const CaseResult& one);

// Returns the contestants with trials and the reference's second entry, whose faults are charged to the
// contestant it repeats.
std::vector<const Entry*> entries_of_contestants(const CaseResult& one);

// Returns true if any contestant has a trial to check.
bool anything_measured(const CaseResult& one);

// Returns the contestant that is charged with an entry's faults.
const std::string& answerable(const Entry& entry);

// Returns the last round begun by any entry.
std::uint64_t rounds_begun(const CaseResult& one);

// Returns how many rounds the case was run in. A case has fewer rounds than the race where several cases
// share its time.
std::uint64_t rounds_of(const CaseResult& one);

}  // namespace joust::race
