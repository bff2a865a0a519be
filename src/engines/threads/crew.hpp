// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>

#include "base/fd.hpp"
#include "base/small_thread.hpp"
#include "connection/stream_connection.hpp"
#include "engines/engine.hpp"
#include "engines/files/pipe_pool.hpp"
#include "engines/loop/gathering.hpp"
#include "net/waker.hpp"

namespace joust {

// A connection and its thread, the owner. The host (the thread that runs the engine) uses it too, so members
// that are not atomic are protected by the mutex. No thread sleeps with the lock held, except the owner in
// sendfile(), for one tick of the kernel.
struct CrewPeer {
  enum class Task : std::uint8_t { none, live, leave };

  Task await_task();  // called by the owner, first
  void give(Task given);

  void catch_up(Publications* publications, Time now);  // with publications
  void flush(Time now);                                 // sends what is possible without waiting
  short interest() const;                               // the events of ppoll to wait for

  std::mutex mutex;
  Fd socket;                                   // used only by the owner while there is no connection
  std::optional<StreamConnection> connection;  // while it is open
  std::uint64_t seen = 0;                      // the publication count that the session knows
  short waits_for = 0;                         // the owner sleeps until one of these events,
  Time back_by{};                              // or this time
  std::atomic<bool> nudged{false};             // has been signalled, and not acknowledged yet

  Task task = Task::none;
  std::condition_variable given;

  std::list<CrewPeer>::iterator self;  // for the crew, like those below
  CrewPeer* ended_before = nullptr;
  SmallThread thread;
};

// All peers of a run and their threads. Threads that sleep in system calls pose two problems, solved here:
//
// - Waking one. Only a signal ends a recv without ending the stream, and a signal is lost on a thread that is
//   just about to sleep. So a nudge is repeated until the owner has acknowledged it.
// - Broadcasts. Waking a thousand threads to send a message takes longer than sending it, so the host sends
//   for them. It waits neither for a lock nor for room in a socket. Where it would have to, or where the
//   owner's sleep no longer fits its interest, the host nudges the owner.
class Crew {
 public:
  // `live` is the work of a peer's thread. Its exceptions end only that connection, and are counted.
  Crew(const Hosting& hosting, std::function<void(CrewPeer&)> live);
  ~Crew();  // ends all at once if they still run

  // Called by the host:
  // Has a thread wait for the next connection, if none does. Returns the failure if there can be none.
  std::optional<Failure> prepare() noexcept;
  void start(Fd socket);                              // passes the socket to that thread
  std::size_t size() const { return peers_.size(); }  // without the waiting thread
  int fd() const { return waker_.fd(); }              // readable when attend() has work,
  std::optional<Time> due() const;                    // which it also has at this time
  void attend(Time now);  // joins ended threads, passes on publications, repeats nudges
  void drain();           // tells all owners to finish
  void end_at_once();     // ends all, finished or not

  // Called by any thread:
  Publications* publications() const { return publications_; }
  bool will_speak() const;  // the host is about to send for all: no thread need send a part of it
  PipePool& pipes() { return pipes_; }
  bool draining() const { return draining_; }
  bool ending() const { return ending_; }
  void wake_host() { waker_.wake(); }
  void wait_failed() const;  // ppoll() has failed: returns when it may be retried; throws permanent errors

 private:
  void run_thread(CrewPeer& peer) noexcept;
  void break_off(CrewPeer& peer, const Failure& failure) noexcept;
  void join_ended();
  void pass_publications();
  bool speak_for(CrewPeer& peer) noexcept;
  void nudge(CrewPeer& peer);
  void nudge_all();
  void repeat_nudges();

  const Hosting& hosting_;
  const std::function<void(CrewPeer&)> live_;
  Publications* const publications_;
  PipePool pipes_{hosting_.tally};
  Waker waker_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> ending_{false};

  std::mutex mutex_;
  CrewPeer* ended_last_ = nullptr;  // protected by the mutex; an intrusive list

  Time now_ = Clock::now();
  std::optional<Time> nudge_again_;     // while some are not acknowledged
  std::atomic<std::uint64_t> told_{0};  // the publication count passed on last
  Gathering gathering_;
  std::list<CrewPeer> spare_;  // at most one: its thread waits for a task
  std::list<CrewPeer> peers_;
};

}  // namespace joust
