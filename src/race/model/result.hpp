// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "load/result.hpp"
#include "load/result_json.hpp"
#include "measure/clock_rate.hpp"
#include "measure/environment.hpp"
#include "measure/machine_cpu.hpp"
#include "measure/process_times.hpp"
#include "measure/usage.hpp"
#include "race/model/hosts.hpp"
#include "race/model/scenario.hpp"
#include "stats/comparison.hpp"
#include "stats/decision.hpp"
#include "stats/intervals.hpp"

// The recorded data of a race, and the conclusions. Checks, tables and documents are functions of these.
namespace joust::race {

// Losses where delivery is lossy: lost deliveries where the protocol counts deliveries, otherwise requests
// that had no reply.
struct Loss {
  std::uint64_t lost = 0, of = 0;
};

// Returns nothing where delivery is not lossy.
std::optional<Loss> loss_of(const LoadResult& load);

// Returns the share with two significant digits, "0.3 %", or in a phrase: "lost 0.3 % of its messages".
std::string share_words(const Loss& loss);
std::string lost_words(const Loss& loss);

// A slice of a generation in which one contestant worked and the others were stopped.
struct Turn {
  std::uint64_t number = 0;                   // of its contestant in the generation, from 1
  std::uint64_t order = 0;                    // its place in its round of turns, from 1
  double start_s = 0;                         // its begin, from the begin of the race
  double window_s = 0;                        // from the last reply of the ramp to the last reply
  std::uint64_t verified = 0;                 // replies in that time
  std::uint64_t latency_sum_ns = 0;           // the sum of their latencies
  std::uint64_t failed = 0;                   // requests that failed in that time
  std::uint64_t messages = 0;                 // messages of the whole turn
  double turn_s = 0;                          // from its begin until the last reply was verified
  double server_cpu_s = 0, client_cpu_s = 0;  // CPU time in the whole turn
  std::optional<double> steal_s{};            // of the pinned CPUs in that time; empty if not pinned

  std::optional<double> throughput_per_s() const;
  std::optional<double> server_cpu_us_per_message() const;  // empty in process
};

// The shortest window in which the server's usage is known: it may be read some milliseconds off the ends.
inline constexpr double kLeastWindowOfServer_s = 0.1;

using BuildInfo = LoadProgram::Build;

// The facts that a child reports of itself.
struct ChildFacts {
  std::string engine{}, wait{};
  std::uint64_t threads = 0;
  Settings knobs{}, socket{};  // options of the socket are read back from the kernel
  BuildInfo build{};
};

// The server's side of a trial. Only the usage of an external server is known.
struct ServerResult : ChildFacts {
  std::optional<Usage> usage{};  // in the timed window; empty in process and if it could not be read
  std::string cpu_unknown{};     // why the CPU time in `usage` is not that of the server; empty if it is
  bool ignores_ends = false;     // a process of it ignores the end of its children, whose CPU time is lost
  bool ignores_stop = false;     // an external server that did not end when it was asked to
  std::uint64_t connections_failed = 0;
  std::optional<std::uint64_t> bytes_received{}, bytes_sent{};  // the whole run's
  std::map<std::string, std::uint64_t> errors{};
  std::vector<std::string> missing{};  // kernel features the engine had to do without
  std::vector<std::string> notes{};
};

// How the kernel schedules the threads of both sides, external servers' too: in the first turn of a
// contestant, or at the end of its first window.
struct Scheduling {
  ThreadGroup race{};  // of the thread that started both sides, except for its CPUs
  std::vector<ThreadGroup> server{}, client{};
};

// A figure of each side; empty where it is not known.
struct Sides {
  std::optional<double> server{}, client{};
};

// One contestant measured once, in fresh processes: in a window of its own, or in the turns of a generation.
// In turns, `round` is the number of the generation.
struct Trial {
  std::uint64_t round = 0;     // number of the round, from 1
  std::uint64_t attempt = 1;   // number of the attempt of the round; above 1 in a repeated round
  std::uint64_t position = 0;  // place in the round's order, from 1
  bool disturbed = false;      // other guests or processes used too much of the machine
  bool late = false;           // usage and calls were read too late and are not used
  bool serverless = false;     // a command that moves files has no server
  bool counted = true;         // false: reported, but another attempt of its round is used
  std::optional<LoadResult> load{};
  LoadProgram program{};  // of the load, as its document has it; `client` are the facts that are compared
  LoadChoices choices{};
  ChildFacts client{};
  ServerResult server{};
  std::vector<Turn> turns{};  // empty for a trial with a window of its own
  double turns_s = 0;         // time of all turns, recorded or not, which the usage covers
  double cpu_s_at_rest = 0;   // CPU time of the server in turns of others, as of a polling thread
  Sides busiest_thread{};     // the share of its side's CPU time that one thread used, in turns
  // The levels of its turns, which a few disturbed ones hardly move (run_generation()). Empty without turns.
  std::optional<double> turns_throughput_per_s{}, turns_server_cpu_us_per_message{};
  // The same with the contestant's own stalls, where these change its figures (count_uneven_turns()).
  std::optional<double> all_turns_throughput_per_s{}, all_turns_server_cpu_us_per_message{};
  bool counts_all_turns() const { return all_turns_throughput_per_s || all_turns_server_cpu_us_per_message; }
  std::optional<MachineCpu> machine{};  // the whole machine during the timed window
  std::optional<MachineCpu> pinned{};   // the CPUs of both sides in that window; empty if not pinned
  // The CPUs of each side; empty unless each side has CPUs of its own.
  std::optional<MachineCpu> server_cpus{}, client_cpus{};
  std::optional<Throttling> throttled{};  // by a CPU quota, during the timed window
  std::optional<Scheduling> scheduling{};
  std::optional<ClockRates> clock{};  // clock rates of the pinned CPUs, at both ends of the window
  std::optional<double> server_calls{}, client_calls{};  // system calls in the timed window
  std::string calls_reason{};                            // why a count is absent
  std::string failure{};                                 // in words; empty if there was none
  std::vector<std::string> last_words{};                 // the end of a failed child's stderr
  bool not_found = false;  // the program of a command is missing, or a part that it needs
  // A host did not answer in time, has ended, or has missed the begin of a turn; or all processes of the race
  // stood still: no contestant's fault. The whole round is refused.
  bool host_lost = false;
  bool refused = false;      // a child reported wrong usage: no contestant can run with it
  bool interrupted = false;  // by the user, not by a failure

  // The figures that are compared. In an open loop the throughput is that of the replies in the window: the
  // rate, less the growth of the backlog.
  std::optional<double> throughput_per_s() const, mb_per_s() const;
  std::optional<double> deliveries_per_s() const;  // for a room, which delivers each message to all members
  std::optional<double> server_cpu_us_per_message() const;
  std::optional<double> client_cpu_us_per_message() const;

  // Returns the server's usage, or null where it is not known: in process, and in a window shorter than
  // kLeastWindowOfServer_s. (The load reads its own usage on time.)
  const Usage* known_server_usage() const;

  // The messages and the time that the usage of both sides covers: those of the timed window, or of all turns
  // with their ramps.
  double messages_of_usage() const;
  double time_of_usage_s() const;

  // True if statistics may use the result: figures per message need at least one message.
  bool measured() const { return failure.empty() && !interrupted && load && load->messages.verified > 0; }
};

// System calls, counted in a trial of their own because counting slows every call.
struct CallCount {
  std::optional<double> server{}, client{};  // in the timed window of that trial
  std::uint64_t messages = 0;                // verified in it
  double window_s = 0;
  std::string reason{};  // why a count is absent

  std::optional<double> server_per_message() const { return per_message(server); }
  std::optional<double> client_per_message() const { return per_message(client); }

 private:
  std::optional<double> per_message(const std::optional<double>& calls) const {
    return calls && messages > 0 ? std::optional(*calls / static_cast<double>(messages)) : std::nullopt;
  }
};

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
  std::map<std::string, std::string> bars{};
  std::vector<std::string> at_least{};       // contestants whose figure is a lower bound
  std::vector<std::string> limit_unknown{};  // contestants whose figure may be one
  bool invalidates = false;                  // the whole measurement, not only single contestants
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
  std::string verdict{};  // in words

  // Returns whether latency ranks the contestants: it does where throughput is given. The figure is the 99th
  // percentile. Where trials have too few messages for it, as in rooms, it is the median or the mean.
  bool ranked_by_latency() const { return plan.open_loop(); }
  const LatencyFigure* latency = &kP99Latency;  // set by summarize()
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

// The trials that statistics may use: counted, with a result.
std::vector<const Trial*> usable_trials(const Entry& entry);

// The second entry of the planned reference, whichever the ratios are to; null if there is none.
const Entry* second_entry(const CaseResult& result);

// Returns null if no entry has that name and kind.
const Entry* find_entry(const CaseResult& result, const std::string& name,
                        EntryKind kind = EntryKind::contestant);

}  // namespace joust::race
