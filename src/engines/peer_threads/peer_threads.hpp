// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "engines/engine.hpp"
#include "engines/files/pipe_pool.hpp"
#include "engines/loop/broadcast_delay.hpp"
#include "engines/peer_threads/threaded_peer.hpp"
#include "net/waker.hpp"

namespace joust {

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
