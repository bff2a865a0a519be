// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "joust/load_plan.hpp"
#include "joust/service.hpp"
#include "joust/time.hpp"
#include "load/channels.hpp"
#include "load/recorder.hpp"
#include "load/schedule.hpp"

namespace joust {

// A time as the value of a signal, which is an int (sigqueue(3)). It is exact to 1 us, and repeats every 36
// minutes.

// Returns the value of a time; above 0.
int signalled_time(Time time);
// Returns the time with this value that is next to `now`, earlier or later. Async-signal-safe.
Time time_of_signal(int value, Time now);

// The state that the connections of a running load share. Its phases:
//
//   connecting -> start (all connections are open, or have failed) -> warm-up -> timed window -> the last
//   replies
//
// Sessions detect the start through publications(), and so the window's opening if it cannot be computed in
// advance; until then they show no output. With a duration the window follows the warm-up at once. With a
// count of messages the replies of the warm-up are awaited first, so that every request sent in the window is
// answered in it.
//
// In turns (LoadPlan::turns) the phases after the connecting repeat, each time that begin_turn() is called:
//
//   at rest -> ramp -> timed window -> the last replies -> at rest
//
// Counted turns (begin_counted_turn()) have no ramp, and the window ends with the last reply.
//
// A connection that ends with a reply (MessageKind::last_reply) hands its channel over to another one, which
// is dialled at once and goes on as if it were the same: the load waits for it in each phase.
//
// With LoadPlan::Reconnect::always a lost connection leaves its channel to another one, which joins the phase
// that the load is in. Until then it counts as at rest. A channel that is given up counts as one whose
// connection has failed without reconnecting.
//
// All methods: any thread.
class LoadRun {
 public:
  explicit LoadRun(const LoadPlan& plan, bool lossy = false);  // `lossy`: the delivery is lossy

  const LoadPlan& plan() const { return plan_; }  // its request timeout is set
  bool lossy() const { return lossy_; }
  Publications& publications() { return publications_; }
  Recorder& recorder() { return recorder_; }
  const Recorder& recorder() const { return recorder_; }

  // Sets the time at which the engine begins. Call before it runs.
  void begin(Time now) { channels_.begin(now); }

  // Called by sessions and services.
  Channels& channels() { return channels_; }
  void opened(Time now);
  void not_opened(const Failure& failure, Time now);
  void handed_over(Channel channel, Time now);                   // the connection has ended with a reply
  void lost(Channel channel, const Failure& failure, Time now);  // only if the plan reconnects
  // Counts that a lost channel has a connection again. It takes part in the turns after the returned one.
  Turns::Number reconnected(Channel& channel, Time now);
  std::optional<Redial> redial(Time now);  // see Service
  void settled(Time now);   // the warm-up's replies have arrived, or the connection ended (messages only)
  void measured(Time now);  // the connection's part of the window is over, or the connection ended
  void failed(const Failure& failure);  // an open connection
  void stopped(Time now);  // a connection has received a stop: the window ends, or does not open any more
  void entered_window();   // a connection has seen that the window is open (duration only)
  // Begins a turn of this length, from now; its window opens after `ramp`, or never. Async-signal-safe.
  void begin_turn(Time now, Duration length, std::optional<Duration> ramp);
  // Begins a turn of so many messages of each connection. Async-signal-safe.
  void begin_counted_turn(Time now, std::uint64_t messages, bool recorded);
  std::uint64_t messages_in_turn() const { return messages_in_turn_.load(std::memory_order_acquire); }
  Turns::Number turn() const { return turns_.number(); }
  // Returns false for a turn without a window, which has no effect on the results.
  bool turn_is_recorded() const { return opens() != closes(); }
  bool turn_under_way() const { return turns_.under_way(); }
  void rested(Time now);                                     // the connection's part of the turn is over
  void gone(Turns::Number entered, bool at_rest, Time now);  // the connection has failed, in turns

  // Return nothing while the time is unknown.
  std::optional<Time> start() const { return load(start_); }
  std::optional<Time> opens() const { return load(opens_); }
  std::optional<Time> closes() const { return load(closes_); }

  // Calls `observer` once at each milestone, in their order, on the thread of the first connection that
  // reaches it; never if no connection was opened. A thread of its own would slow down the system calls of a
  // process with a single thread. Must be set before the run.
  // In turns they are `started` and, at the end of each turn, `rested`.
  enum class Milestone : std::uint8_t { started, opened, closed, rested };
  // `hold` delays the start of a load without turns. It is called when all connections are open or have
  // failed, on the thread of the last one, but not if all have failed. It returns the time at which the first
  // messages are due: now.
  using Observer = std::function<void(Milestone)>;
  using Hold = std::function<Time()>;
  void observe(Observer observer, Hold hold = {}) { watch_ = {std::move(observer), std::move(hold)}; }

  // Results.
  Duration windows(Time ended) const;  // until `ended`: now, or the end of the run
  Duration windows_before() const { return Duration(windows_ns_.load()); }  // windows of earlier turns
  std::optional<Time> first_opens() const { return plan_.turns ? load(first_opens_) : opens(); }
  std::uint64_t connections_opened() const { return opened_.load(); }
  std::uint64_t connections_failed() const;
  std::uint64_t reconnects() const { return reconnects_.load(); }
  std::uint64_t handovers() const { return handovers_.load(); }
  std::uint64_t failures(Stage stage) const;
  std::vector<std::string> complaints() const;

 private:
  using Instant_ns = std::atomic<std::int64_t>;
  static constexpr std::int64_t kUnknown = INT64_MAX;

  static std::optional<Time> load(const Instant_ns& instant);
  static void set(Instant_ns& instant, Time time);
  void reach(Milestone milestone);
  void arrived(Time now);  // one more connection is open, or could not be opened
  void open_window(Time now);
  void announce_turn(Time now, Time opens, std::optional<Time> closes, bool recorded);
  void end_turn(Time now);
  void conclude_phases(Time now);
  void count(const Failure& failure);
  void give_up(const Channel& channel, Time now);
  void lose_schedule(const Channel& channel);
  std::optional<Time> end_of_window() const;

  const LoadPlan plan_;
  const bool lossy_;
  Publications publications_;
  Recorder recorder_;
  Channels channels_{plan_};
  std::atomic<std::uint64_t> opened_{0};
  std::atomic<std::uint64_t> arrived_{0};
  std::atomic<std::uint64_t> settled_{0};
  std::atomic<std::uint64_t> measured_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> down_{0};  // channels that had a connection and have none
  std::atomic<std::uint64_t> reconnects_{0};
  std::atomic<std::uint64_t> handovers_{0};
  std::atomic<bool> window_opened_{false};  // after all connections have settled
  Instant_ns start_{kUnknown};
  Instant_ns opens_{kUnknown};
  Instant_ns closes_{kUnknown};
  Turns turns_;
  std::atomic<std::uint64_t> messages_in_turn_{0};
  Instant_ns first_opens_{kUnknown};
  std::atomic<std::int64_t> windows_ns_{0};

  struct Watch {
    Observer observer = [](Milestone) {};
    Hold hold{};
  };
  Watch watch_{};
  std::array<std::atomic<bool>, 3> reached_{};  // by milestone

  mutable std::mutex mutex_;
  std::array<std::uint64_t, kStages> by_stage_{};
  std::vector<std::string> complaints_;
};

}  // namespace joust
