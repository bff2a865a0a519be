// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "connection/backoff.hpp"
#include "joust/load_plan.hpp"
#include "joust/service.hpp"
#include "load/progress.hpp"
#include "load/schedule.hpp"

namespace joust {

// The place of one connection in a load. It outlives a connection that ends with a reply and, with
// LoadPlan::Reconnect::always, one that is lost: the next one that takes it goes on with what is left.
struct Seat {
  Seat(const LoadPlan& plan, std::uint64_t its_number)
      : number(its_number), backoff(plan.backoff_least, plan.backoff_most, mixed(plan.seed) + its_number) {}

  std::uint64_t number;
  bool opened = false;          // a connection has been open here,
  bool down = false;            // and has been lost
  bool replied = false;         // since the seat was taken
  bool ever_replied = false;    // to one of its connections
  bool settled = false;         // counted by LoadRun::settled()
  bool entered_window = false;  // counted as behind at its opening, where the loop is open
  bool answered = false;        // counted by Recorder::answered()
  std::uint64_t in_window = 0;  // requests sent for the window (messages only)
  std::optional<Schedule> schedule{};
  std::unique_ptr<Handover> handover{};  // of a connection that has ended with a reply
  Backoff backoff;
  std::optional<Time> since{};  // for Seats: without a connection that had a reply
  Time due{};                   // for Seats: the next attempt
};

// The seats of a load, as far as no connection has them. All methods: any thread; they allocate nothing.
class Seats {
 public:
  explicit Seats(const LoadPlan& plan);

  // The seats that have not been taken yet wait since then, not since their first failure.
  void begin(Time now);

  // For a dial that has succeeded or failed: the seat of one of those under way.
  Seat take();
  // Its connection could not be made after all.
  void give_back(Seat seat);
  // For a dial that has failed: a seat with a handover, if there is one among those under way.
  std::optional<Seat> take_handover();

  // The seat has a handover, and waits for the next dial.
  void hand_over(Seat seat, Time now);
  bool dial_handover();  // hands the one that waits longest over to a dial, if there is one

  // The seat waits for its next attempt. False if it has waited for too long already.
  bool wait(Seat& seat, Time now);
  // Hands the seat that waits longest over to a dial if its time has come. The time of the next one, which is
  // later than `now` if none was handed over; nothing if none waits.
  std::optional<Time> dial(Time now);
  // One of those that wait, if any: it waits no more.
  std::optional<Seat> take_waiting();

 private:
  const LoadPlan& plan_;
  const Duration patience_;
  std::mutex mutex_;
  std::optional<Time> began_;
  std::uint64_t taken_ = 0;    // for the first time
  std::vector<Seat> dialled_;  // again
  // Heaps, the earliest first.
  std::vector<Seat> waiting_;  // lost ones
  std::vector<Seat> handed_over_;
};

}  // namespace joust
