// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

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

struct Handover;

// The progress of one connection through the phases of a load: which requests are to be sent, when they are
// due, and which are outstanding. It reads and writes no message. A connection that ends with a reply moves
// it to the next connection of its channel.
class Progress {
 public:
  enum class Phase : std::uint8_t {
    waiting,    // for the start, or the next turn; the first requests are written, but not shown
    warming,    // requests that are not recorded: the warm-up, or the ramp of a turn
    settling,   // no new requests until all are answered (messages and turns only)
    ready,      // for the window; the first requests are written, but not shown (messages only)
    measuring,  // the timed window
    finishing,  // no new requests; the last replies are still verified
  };

  Progress(LoadRun& run, const Channel& channel, bool lossy);

  Phase phase() const { return phase_; }
  const Outstanding& outstanding() const { return outstanding_; }
  bool finished() const { return finished_; }
  void finish() { finished_ = true; }
  // Returns whether the first requests of the next phase are written before it begins, and not shown yet.
  bool in_advance() const { return phase_ == Phase::waiting || phase_ == Phase::ready; }
  bool shows_requests() const;
  bool records(Time now) const;
  // Return whether another request is to be sent, and whether that is now; in any phase, also in advance.
  bool wants_to_send() const;
  bool is_due(Time now) const;
  // Returns whether all requests of the window, or of a counted turn, are sent.
  bool all_sent() const;
  bool owes() const;
  // Returns whether the missing replies do not count any more: they have been counted as in flight.
  bool awaits_nothing() const { return phase_ == Phase::finishing && (cut_off_ || !plan().open_loop()); }
  bool may_go_on() const { return !finished_ && phase_ != Phase::finishing && !all_sent(); }
  // Returns when a phase ends or a reply is overdue even if nothing is received, or Time::max().
  Time deadline() const;
  Time next_due() const { return plan().has_schedule() ? schedule_.next() : Time{}; }

  // The steps of the phases, in their order. Call them for each input, unless in_window().
  bool in_window(Time now) const { return phase_ == Phase::measuring && now < closes_; }
  bool begin();  // returns true if the load, or a turn, has begun
  void pass_warm_up(Time now);
  bool get_ready();  // returns true if the replies of the warm-up are there; requests may then be written
  void pass_window(Time now);
  bool ends_turn() const { return phase_ == Phase::settling && plan().turns && !owes(); }
  void rest();  // requests of the next turn may then be written
  void leave_window(Time now);
  void stop_waiting(Time now);  // in an open loop, for a server that stays too slow
  void finish_if_done(Time now);

  // Events.
  void sent(std::uint64_t number, Time slot_free, Time now);
  void wrote(std::uint64_t bytes, Time now);
  void answered(std::size_t place, bool held_back, Time now);  // 0: the oldest request
  void give_up_oldest(bool held_back, Time now);
  void free_slot(bool held_back, Time now);
  void withdraw() { outstanding_.clear(); }
  void drain(Time now);
  void lose_schedule();
  void fail(Time now);

  // Connections in place of this one.
  void leave(Channel& channel, bool takes_part, Time now);  // the connection is lost
  bool rejoin(Channel& channel, Time now);                  // returns whether the load is running
  std::unique_ptr<Handover> hand_over(Time now);            // the connection has ended with a reply
  void go_on(Time now) { slot_free_ = now; }                // the next connection is open

 private:
  const LoadPlan& plan() const { return run_->plan(); }
  bool begins() const { return plan().turns ? run_->turn() != turn_ : run_->start().has_value(); }
  bool has_more() const;
  std::optional<std::uint64_t> most_requests() const;
  Time warm_up_ends() const { return plan().messages ? *run_->start() + plan().warmup : *run_->opens(); }
  void begin_schedule(Time now);
  void enter_window(Time opens);
  void cut_off(Time now);

  // Every message reads and writes the first members: with thousands of connections they are fetched from
  // main memory each time, so they are close together.
  Phase phase_ = Phase::waiting;
  bool finished_ = false;
  bool left_window_ = false;
  bool cut_off_ = false;    // after the window: its requests are not awaited any more
  Turns::Number turn_ = 0;  // the turn that was entered last
  LoadRun* run_;
  Time closes_ = Time::max();    // the end of the window, as far as this connection knows (duration only)
  std::uint64_t in_window_ = 0;  // requests written for the window, or the turn (messages only)
  WindowRecord record_;
  Time slot_free_{};  // open loop: time since when at least one slot has been free
  Outstanding outstanding_;
  Schedule schedule_;  // with an interval or a rate
};

// The state that a connection which ends with a reply leaves to the next connection of its channel.
struct Handover {
  Progress progress;
  std::uint64_t in_flight = 0;  // counted as in flight by the recorder, until they are sent again
  Time ended{};                 // when the connection has ended, and so freed its slots
};

}  // namespace joust
