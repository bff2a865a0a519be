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

// A connection with a thread of its own, its owner. The host (the thread that runs the engine) visits it too,
// so what is not atomic is touched under the lock. Nobody sleeps while holding that, but the owner in
// sendfile(), for one tick of the kernel.
struct CrewPeer {
  enum class Task : std::uint8_t { none, live, leave };

  Task await_task();  // the owner's: the first thing it does
  void give(Task given);

  void catch_up(Publications* publications, Time now);  // with what was published, and with time
  void flush(Time now);    // sends what there is, as far as it goes without waiting
  short interest() const;  // the events of ppoll it has a use for

  std::mutex mutex;
  Fd socket;                                   // the owner's alone while there is no connection
  std::optional<StreamConnection> connection;  // from its beginning to its end
  std::uint64_t seen = 0;                      // of the publications
  short waits_for = 0;                         // the owner sleeps until one of these events,
  Time back_by{};                              // or this time
  std::atomic<bool> nudged{false};             // and has been roused, but has not answered yet

  Task task = Task::none;
  std::condition_variable given;

  std::list<CrewPeer>::iterator self;  // the crew's, like those below
  CrewPeer* ended_before = nullptr;
  SmallThread thread;
};

// All peers of a run and their threads. Two things are hard with threads that sleep in system calls, and are
// solved here:
//
// - To tell them something. Only a signal ends a recv without ending the stream, and it is lost on a thread
//   that is just about to fall asleep. So a nudge is repeated until the owner has answered it.
// - To have them all speak. When a message is for everyone, waking a thousand threads to send it takes longer
//   than sending it. So the host sends for them. It waits neither for a lock nor for room in a socket: where
//   it would have to, or where the owner's sleep no longer fits what it should wait for, it nudges the owner.
class Crew {
 public:
  // `live` is what a thread does for its peer. What it throws costs that connection, and is counted.
  Crew(const Hosting& hosting, std::function<void(CrewPeer&)> live);
  ~Crew();  // ends at once, if not done

  // The host's
  // Has a thread wait for the next connection, if none does. Says why when there can be none.
  std::optional<Failure> prepare() noexcept;
  void start(Fd socket);  // that thread lives for this socket from now on
  std::size_t size() const { return peers_.size(); }  // without the one that waits
  int fd() const { return waker_.fd(); }  // readable when attend() has something to do,
  std::optional<Time> due() const;        // and so it has at this time
  void attend(Time now);                  // joins who has ended, passes publications on, repeats nudges
  void drain();                           // has all take leave
  void end_at_once();                     // whatever is unfinished

  // Any thread's
  Publications* publications() const { return publications_; }
  bool will_speak() const;  // the host is about to send for everyone: nobody needs to send a part of it
  PipePool& pipes() { return pipes_; }
  bool draining() const { return draining_; }
  bool ending() const { return ending_; }
  void wake_host() { waker_.wake(); }
  void wait_failed() const;  // ppoll() has: returns when it may be called again; throws what will not pass

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
  CrewPeer* ended_last_ = nullptr;  // under the mutex; a list without memory of its own

  Time now_ = Clock::now();
  std::optional<Time> nudge_again_;     // while any are unanswered
  std::atomic<std::uint64_t> told_{0};  // of the publications
  Gathering gathering_;
  std::list<CrewPeer> spare_;  // at most one: its thread waits for a task
  std::list<CrewPeer> peers_;
};

}  // namespace joust
