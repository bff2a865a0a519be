// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rare.hpp"
#include "joust/load_plan.hpp"
#include "load/run.hpp"
#include "measure/histogram.hpp"
#include "measure/usage.hpp"

namespace joust {

// The least share of the requests due, LoadResult::achieved(), that counts as a schedule that was kept.
inline constexpr double kKeptShare = 0.99;

// The result of a load. Its members are those of its document (load/result_json.hpp): a unit at the end of a
// name is that of the document.
struct LoadResult {
  struct Connections {
    std::uint64_t ok = 0, failed = 0;
    std::uint64_t answered = 0;        // with at least one verified reply in the window
    std::uint64_t never_answered = 0;  // closed loop: asked, and had no reply until the window closed
  };
  // Requests of the timed window, as Recorder::Counts has them.
  struct Messages {
    std::uint64_t sent = 0, verified = 0, failed = 0, in_flight = 0;
    Rare<bool> unverified{};                           // nothing says what a right reply is: any reply counts
    Rare<std::uint64_t> lost{}, late{}, duplicated{};  // lossy delivery only: messages may have been lost
    Rare<std::uint64_t> beside{};                      // turns only
    Rare<std::uint64_t> due{}, unsent{}, open_at_opening{}, open_at_close{};  // open loop only
  };
  // Bytes of the window's messages, framing included; and of the whole run, as counted by the engine.
  struct Bytes {
    std::uint64_t sent = 0, received = 0, total_sent = 0, total_received = 0;
  };
  // The actual timed window, on the clock that all processes of the machine share.
  struct Window {
    Time from{}, to{};
  };
  // CPU time of this process between two readings, which follow the window's ends, and the time between them.
  struct Cpu {
    double user_s = 0, system_s = 0, over_s = 0;
    double used_s() const { return user_s + system_s; }
  };
  struct Switches {
    std::uint64_t voluntary = 0, involuntary = 0;
  };

  LoadPlan plan{};
  bool interrupted = false;
  Connections connections{};
  std::uint64_t reconnects = 0;  // lost connections that came back, in the whole run
  std::uint64_t handovers = 0;   // connections that ended with a reply, and were dialled again
  Messages messages{};
  Duration oldest_open_ns{};  // age of the oldest request in flight when the window closed
  Bytes bytes{};
  std::optional<Window> window_ns{};  // empty if the window never opened
  // Length of the timed window; 0 when it never opened. In an open loop it includes the wait for the last
  // reply to a message that was due in the window.
  double duration_s = 0;
  double throughput_per_s = 0;                  // verified messages a second
  Distribution latency_ns{};                    // open loop: since a request was due
  Rare<Distribution> uncorrected_latency_ns{};  // open loop only: since it was sent
  Rare<Distribution> send_lateness_ns{};        // open loop only: lateness of this load, not of the server
  std::vector<std::uint64_t> slices{};          // messages verified in each tenth of the window
  Cpu cpu{};                                    // of this process
  Switches switches{};                          // of this process, as the CPU time
  std::uint64_t peak_memory_bytes = 0;          // of this process
  std::array<std::uint64_t, kStages> errors{};  // connections, by Stage
  std::vector<std::string> messages_of_errors{};
  std::vector<std::string> notes{};    // notes of the engine
  std::vector<std::string> missing{};  // kernel features the engine had to do without
  std::vector<ResultGroup> groups{};   // figures of the protocol

  bool lossy() const { return messages.lost.has_value(); }
  // Return those of an open loop; empty otherwise.
  Distribution uncorrected_latency() const { return uncorrected_latency_ns.value_or(Distribution()); }
  Distribution send_lateness() const { return send_lateness_ns.value_or(Distribution()); }
  Usage usage() const;
  // Sets the usage, but for the time between the readings.
  void set_usage(const Usage& usage);
  // Returns, for an open loop, the requests due in the window.
  std::uint64_t due() const { return messages.due.value_or(messages.sent); }
  // Returns how many of them were not sent later either.
  std::uint64_t never_sent() const { return due() - messages.sent; }
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
    return connections.failed == 0 && messages.failed == 0 && messages.verified > 0 &&
           connections.never_answered == 0 && !interrupted;
  }
};

// Returns the result of a load that has measured nothing.
LoadResult no_result(const LoadPlan& plan);

// Computes the result. Call after the engine has returned. `usage` is the process's usage between the
// window's ends.
LoadResult conclude(const LoadRun& run, const Usage& usage, bool interrupted, Time ended);

// The load of one of several hosts, or one of several processes: a part of one load.
struct LoadPart {
  std::string name{};
  LoadResult result{};
};

// Returns the parts as one result. Counts are added, histograms bucket by bucket. The window is as long as
// the longest one, and begins and ends with that of the first part, because each host has a clock of its own.
// The peaks of memory are added. Of the figures of protocols only counts are kept, because only those can be
// added. REQUIRES: at least one part.
LoadResult merged(std::span<const LoadPart> parts);

// Returns why these are no parts of one load: their plans differ in more than connections, rate and seed.
// Empty if they are.
std::string why_no_parts(const LoadPart& one, const LoadPart& other);

}  // namespace joust
