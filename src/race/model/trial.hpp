// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "load/result.hpp"
#include "load/result_json.hpp"
#include "measure/machine_cpu.hpp"
#include "measure/processes.hpp"
#include "measure/usage.hpp"

// The data that are measured of a contestant.
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

}  // namespace joust::race
