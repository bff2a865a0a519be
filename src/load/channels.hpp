// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "connection/timer_queue.hpp"
#include "joust/load_plan.hpp"
#include "joust/service.hpp"
#include "load/schedule.hpp"

namespace joust {

struct Handover;

// A logical connection of a load. It outlives a connection that ends with a reply and, with
// LoadPlan::Reconnect::always, a lost one: the next connection that takes the channel continues the remaining
// work.
struct Channel {
  Channel(const LoadPlan& plan, std::uint64_t its_number);
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();

  std::uint64_t number;
  bool opened = false;          // a connection of this channel has been open,
  bool down = false;            // and has been lost
  bool replied = false;         // a reply has come since the channel was taken
  bool ever_replied = false;    // a reply has come on any of its connections
  bool settled = false;         // counted by LoadRun::settled()
  bool entered_window = false;  // counted as behind at the window's opening, in an open loop
  bool answered = false;        // counted by Recorder::answered()
  std::uint64_t requests = 0;   // numbers of requests that its earlier connections have used up
  std::uint64_t in_window = 0;  // requests sent for the window (messages only)
  std::optional<Schedule> schedule{};
  std::unique_ptr<Handover> handover{};  // from a connection that has ended with a reply
  Backoff backoff;
  std::optional<Time> since{};  // for Channels: since when the channel has had no connection with a reply
  Time due{};                   // for Channels: time of the next attempt
};

// The channels of a load that have no connection. All methods: any thread; they allocate nothing.
class Channels {
 public:
  explicit Channels(const LoadPlan& plan);

  // Sets the time since which the channels wait that have not been taken yet. They do not wait since their
  // first failure.
  void begin(Time now);

  // Returns the channel of one of the dials under way. For a dial that has succeeded or failed.
  Channel take();
  // Takes back a channel whose connection could not be made after all.
  void give_back(Channel channel);
  // Returns a channel with a handover, if one of the dials under way has one. For a dial that has failed.
  std::optional<Channel> take_handover();

  // Takes a channel with a handover, which waits for the next dial.
  void hand_over(Channel channel, Time now);
  bool dial_handover();  // hands the channel that waits longest over to a dial, if one waits

  // Takes a channel that waits for its next attempt. Returns false if it has waited for too long already.
  bool wait(Channel& channel, Time now);
  // Hands the channel that waits longest over to a dial if its time has come. Returns the time of the next
  // attempt, which is later than `now` if no channel was handed over. Returns nothing if none waits.
  std::optional<Time> dial(Time now);
  // Removes one of the waiting channels, if any, and returns it.
  std::optional<Channel> take_waiting();

 private:
  const LoadPlan& plan_;
  const Duration reconnect_for_;
  std::mutex mutex_;
  std::optional<Time> began_;
  std::uint64_t taken_ = 0;       // channels that were taken for the first time
  std::vector<Channel> dialled_;  // channels that are being dialled again
  // Heaps, the earliest first.
  std::vector<Channel> waiting_;  // lost channels
  std::vector<Channel> handed_over_;
};

}  // namespace joust
