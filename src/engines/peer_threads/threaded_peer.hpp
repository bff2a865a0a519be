// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "base/fd.hpp"
#include "connection/stream_connection.hpp"
#include "engines/peer_threads/small_thread.hpp"

namespace joust {

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

}  // namespace joust
