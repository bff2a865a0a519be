// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joust/load_plan.hpp"
#include "load/run.hpp"
#include "measure/distribution.hpp"
#include "measure/usage.hpp"

namespace joust {

// The least share of the requests due, LoadResult::achieved(), that counts as a schedule that was kept.
inline constexpr double kKeptShare = 0.99;

// The result of a load.
struct LoadResult {
  // The actual timed window.
  struct Window {
    Time from, to;
  };

  LoadPlan plan;
  bool interrupted = false;
  std::uint64_t connections_ok = 0;
  std::uint64_t connections_failed = 0;
  std::uint64_t reconnects = 0;            // lost connections that came back, in the whole run
  std::uint64_t handovers = 0;             // connections that ended with a reply, and were dialled again
  bool unverified = false;                 // nothing says what a right reply is: any reply counts
  bool lossy = false;                      // the delivery is lossy: messages may have been lost
  Recorder::Counts messages;               // counts of the timed window
  std::uint64_t total_bytes_sent = 0;      // bytes of the whole run, as counted by the engine
  std::uint64_t total_bytes_received = 0;  // bytes of the whole run, as counted by the engine
  std::optional<Window> window;            // empty if the window never opened
  // Length of the timed window; 0 when it never opened. In an open loop it includes the wait for the last
  // reply to a message that was due in the window.
  double duration_s = 0;
  double throughput_per_s = 0;        // verified messages a second
  Distribution latency;               // open loop: since a request was due
  Distribution uncorrected_latency;   // open loop only: since it was sent
  Distribution send_lateness;         // open loop only: lateness of this load, not of the server
  std::vector<std::uint64_t> slices;  // messages verified in each tenth of the window
  Usage usage;                        // usage of this process, in the window
  double usage_s = 0;                 // between the two readings, which follow the window's ends
  std::array<std::uint64_t, kStages> errors{};
  std::vector<std::string> complaints;
  std::vector<ResultGroup> groups;   // figures of the protocol
  std::vector<std::string> notes;    // notes of the engine
  std::vector<std::string> missing;  // kernel features the engine had to do without

  // Returns, for an open loop, the requests due in the window.
  std::uint64_t due() const { return messages.sent + messages.never_sent; }
  // Returns by how many requests the backlog grew in the window of an open loop: those not sent, and those
  // not answered, from the opening to the close. At a rate above the server's capacity either grows with the
  // time, in the slots as long as there are free ones.
  double fell_behind() const;
  // Returns the share of the requests due by which the backlog did not grow: 1 where the rate was kept.
  // Nothing without a request that was due.
  std::optional<double> achieved() const;
  // Returns the share of the requests due that the server answered, as replies in the window: what it kept,
  // less what failed and what was lost.
  std::optional<double> answered() const;
  // Returns whether the rate was kept, as far as one window tells: the number of requests in flight at an
  // instant is a matter of chance too.
  bool kept_rate() const;
  // Returns the time for rates: at least the time that the messages stand for.
  double rate_s() const;
  // Returns the failures of a stage of connections.
  std::uint64_t failures(Stage stage) const { return errors[static_cast<std::size_t>(stage)]; }
  // Returns the protocol's figures of that name; null if it has none.
  const ResultGroup* group(std::string_view name) const;
  // Returns one of them, such as "mb_per_s" of "transfer"; nothing if there is no such number.
  std::optional<double> number(std::string_view group, std::string_view name) const;

  // Returns whether the load succeeded. False for a load without a single reply, even if nothing failed: it
  // has measured nothing. Also false if a connection had no reply during its whole life: the server may have
  // served only the others.
  bool clean() const {
    return connections_failed == 0 && messages.failed == 0 && messages.verified > 0 &&
           messages.never_answered == 0 && !interrupted;
  }
};

// Computes the result. Call after the engine has returned. `usage` is the process's usage between the
// window's ends.
LoadResult conclude(const LoadRun& run, const Usage& usage, bool interrupted, Time ended);

}  // namespace joust
