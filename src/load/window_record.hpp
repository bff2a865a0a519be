// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "joust/time.hpp"
#include "load/outstanding.hpp"
#include "load/run.hpp"
#include "load/schedule.hpp"

namespace joust {

// The records that one connection makes of the timed window, in the Recorder of its load. Progress decides
// when the window opens and closes, and what it still waits for.
class WindowRecord {
 public:
  WindowRecord(LoadRun& run, const Channel& channel);

  // Opens the window: with requests written in advance, which are sent now, or in flight from the warm-up.
  void open(Time opens, bool written_in_advance, const Outstanding& outstanding, const Schedule& schedule);
  // Closes the window of a closed loop.
  void close(const Outstanding& outstanding, Time now);

  void wrote(std::uint64_t bytes) { recorder().bytes_sent(bytes); }
  void wrote_in_advance(std::uint64_t bytes) { unseen_bytes_ += bytes; }
  void forget_advance() { unseen_bytes_ = 0; }  // these requests are sent in no window

  // Returns whether a request counts in the window. In an open loop each request that was due in the window
  // counts, and no other: one that was due earlier and is answered in the window would bring the past into
  // it.
  bool has(Time due) const { return !run_->plan().open_loop() || due >= *run_->opens(); }
  void sent(Time due, Time slot_free, Time now);
  // `open`: the window is open, or waits for its last replies.
  void replied(const Outstanding::Request& request, bool open, Time now);
  void gave_up(const Outstanding::Request& request, bool open);

  void failed(const Outstanding& outstanding) { recorder().failed(in_flight(outstanding)); }
  void count_in_flight(const Outstanding& outstanding, Time now);
  std::size_t in_flight(const Outstanding& outstanding) const;
  // Counts the requests of the schedule that will not be sent, from the next one on.
  void never_sent(const Schedule& schedule, Time closes) { recorder().never_sent(due(schedule, closes)); }
  // Counts, at the end of an open loop's window, requests that are due and not sent, and those without a
  // reply.
  void at_close(std::uint64_t behind, std::uint64_t open) { recorder().at_close(behind, open); }
  // Returns how many requests of the schedule, from the next one on, belong to the window.
  std::uint64_t due(const Schedule& schedule, Time closes) const;

  // Counts the connection as measured: once, even if it fails after its part of the window.
  void measured(Time now);

  void leave(Channel& channel) const;  // for the next connection of the channel
  void rejoin(const Channel& channel) { answered_ = channel.answered; }

 private:
  Recorder& recorder() const { return run_->recorder(); }

  LoadRun* run_;
  bool answered_ = false;  // a reply was verified in the window
  bool replied_ = false;   // a reply has come
  bool ever_replied_;      // a reply has come on an earlier connection of the channel
  bool entered_;           // counted as behind at the window's opening, in an open loop
  bool in_flight_counted_ = false;
  bool measured_ = false;
  Time opens_{};
  std::uint64_t unseen_bytes_ = 0;  // bytes of requests written in advance
};

}  // namespace joust
