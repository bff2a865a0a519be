// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "base/fd.hpp"
#include "connection/stream_connection.hpp"
#include "engines/engine.hpp"
#include "engines/files/pipe_pool.hpp"
#include "engines/loop/broadcast_delay.hpp"
#include "net/waker.hpp"

namespace joust {

// A thread with a stack small enough that thousands fit in one process. It can be interrupted while it sleeps
// in a system call. start, interrupt and join are for one thread, its owner.
class SmallThread {
 public:
  SmallThread() = default;
  SmallThread(const SmallThread&) = delete;
  SmallThread& operator=(const SmallThread&) = delete;
  ~SmallThread() { join(); }

  // Starts the thread. `body` must not throw. Throws std::system_error, usually EAGAIN, if the machine has no
  // thread left.
  void start(std::function<void()> body);

  // Interrupts the system call in which the thread sleeps: it returns EINTR. A call that the thread has not
  // begun yet is not interrupted, so repeat this until the thread has reacted.
  void interrupt();

  void join();

 private:
  std::optional<pthread_t> thread_;
};

class PeerThreads;

// A connection and its own threads, which are its owners. An engine derives its own type of peer. The host
// (the thread that runs the engine) uses the peer too, so members that are not atomic are protected by the
// mutex. No thread sleeps with the lock held, except in sendfile(), for one tick of the kernel.
class ThreadedPeer {
 public:
  ThreadedPeer(PeerThreads& peer_threads, std::size_t threads);
  virtual ~ThreadedPeer() = default;
  ThreadedPeer(const ThreadedPeer&) = delete;
  ThreadedPeer& operator=(const ThreadedPeer&) = delete;

  // The engine's part:
  // Serves the open connection until it is over. Each owner calls it. An exception ends only this connection,
  // and is counted.
  virtual void hold(std::size_t thread) = 0;
  // Passes publications to the session. The host calls it, so it must not wait for long. Returns false if the
  // owners have to be nudged.
  virtual bool pass_publications(Time now) noexcept = 0;
  // Ends the sleep of the owners. The host repeats the call while `nudged` is set, because a signal is lost
  // on a thread that is just about to sleep.
  virtual void rouse() = 0;
  // Called with the lock held when one owner has left: hold() must return on the other owners.
  virtual void release_others() noexcept {}

  PeerThreads& peer_threads() const { return peer_threads_; }
  // Calls refresh() if the publication count differs from `seen_`. Call it with the lock held.
  void catch_up(Time now);

  std::mutex mutex;
  Time dial_until = Time::max();               // the limit of the dial, if it was started without a socket
  Fd socket;                                   // used only by the first owner until the connection is open
  std::optional<StreamConnection> connection;  // set while the connection is open
  std::atomic<bool> nudged{false};             // set by the host, until an owner acknowledges it

 protected:
  void interrupt(std::size_t thread) { threads_[thread].interrupt(); }

 private:
  friend class PeerThreads;
  enum class Stage : std::uint8_t { spare, begun, opened, over };

  Stage await_beyond(Stage stage);
  void enter(Stage stage);

  PeerThreads& peer_threads_;
  std::uint64_t seen_ = 0;  // the publication count that the session knows
  Stage stage_ = Stage::spare;
  std::condition_variable entered_;
  std::size_t present_ = 0;  // owners that have not left

  std::list<std::unique_ptr<ThreadedPeer>>::iterator self_;
  ThreadedPeer* ended_before_ = nullptr;
  bool is_dismissed_ = false;  // it never had a connection
  const std::size_t count_;    // the number of threads_
  std::unique_ptr<SmallThread[]> threads_;
};

// All peers of a run and their threads, for engines whose connections have threads of their own.
//
// Only a signal ends a blocking call without ending the stream, and a signal is lost on a thread that is just
// about to sleep. So a nudge, which sends such a signal, is repeated until an owner of the connection has
// acknowledged it.
class PeerThreads {
 public:
  using MakePeer = std::function<std::unique_ptr<ThreadedPeer>(PeerThreads&)>;
  // `connect` fills the socket of a peer that was started without one, on the peer's first thread. If it
  // leaves the socket empty, the peer ends.
  PeerThreads(const Hosting& hosting, MakePeer make, std::function<void(ThreadedPeer&)> connect);
  ~PeerThreads();  // ends all peers at once if they still run

  // Called by the host:
  // Starts threads that wait for the next connection, if none wait. Returns the failure if that is
  // impossible.
  std::optional<Failure> prepare() noexcept;
  // Passes the socket, or the task to dial, to the waiting threads.
  void start(Fd socket, Time dial_until = Time::max());
  // The number of connections: without the spare peer, and without dismissed ones.
  std::size_t size() const { return peers_.size(); }
  int fd() const { return waker_.fd(); }  // readable when attend() has work
  std::optional<Time> due() const;        // the time at which attend() has work without that
  void attend(Time now);                  // joins ended threads, passes on publications, repeats nudges
  void drain();                           // asks all owners to finish
  void end_at_once();                     // ends all peers, finished or not

  // Called by any thread:
  const Hosting& hosting() const { return hosting_; }
  Publications* publications() const { return publications_; }
  bool will_speak() const;  // the host will soon pass a publication to all: no part of it need be sent
  PipePool& pipes() { return pipes_; }
  bool draining() const { return draining_; }
  bool ending() const { return ending_; }
  void wake_host() { waker_.wake(); }
  void wait_failed() const;  // ppoll() has failed: returns when it may be retried; throws permanent errors
  // Ends a peer by a failure that concerns only that peer. Call it with the peer's lock held; the peer's
  // owners then leave.
  void break_off(ThreadedPeer& peer, const Failure& failure) noexcept;

 private:
  void run_thread(ThreadedPeer& peer, std::size_t thread) noexcept;
  bool open(ThreadedPeer& peer);
  void leave(ThreadedPeer& peer) noexcept;
  void dismiss_spare();
  void join_ended();
  void pass_publications();
  void nudge(ThreadedPeer& peer);
  void nudge_all();
  void repeat_nudges();

  const Hosting& hosting_;
  const MakePeer make_;
  const std::function<void(ThreadedPeer&)> connect_;
  Publications* const publications_;
  PipePool pipes_{hosting_.tally};
  Waker waker_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> ending_{false};

  std::mutex mutex_;
  ThreadedPeer* ended_last_ = nullptr;  // protected by the mutex; an intrusive list

  Time now_ = Clock::now();
  std::optional<Time> nudge_again_;     // set while a nudge is not acknowledged
  std::atomic<std::uint64_t> told_{0};  // the publication count passed on last
  BroadcastDelay broadcast_delay_;
  // The threads of the last one wait for a connection, unless it is dismissed. Those of dismissed ones end.
  std::list<std::unique_ptr<ThreadedPeer>> spare_;
  std::list<std::unique_ptr<ThreadedPeer>> peers_;
};

}  // namespace joust
