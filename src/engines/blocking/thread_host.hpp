// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/fd.hpp"
#include "connection/stream_connection.hpp"
#include "engines/engine.hpp"
#include "engines/files/file_io.hpp"
#include "engines/loop/loop_core.hpp"
#include "engines/loop/poller.hpp"
#include "engines/loop/queue.hpp"

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

class ThreadHost;
struct HostedPeer;

// A connection and its own threads, which are its owners. An engine derives its own type of peer. The host
// (the thread that runs the engine) uses the peer too, so members that are not atomic are protected by the
// mutex. No thread sleeps with the lock held, except in sendfile(), for one tick of the kernel.
//
// Only a signal ends a blocking call without ending the stream, and a signal is lost on a thread that is just
// about to sleep. So a nudge, which sends such a signal, is repeated until an owner of the connection has
// acknowledged it.
class ThreadedPeer {
 public:
  ThreadedPeer(ThreadHost& host, std::size_t threads);
  virtual ~ThreadedPeer();  // joins the threads, which must have left, or never have had a connection
  ThreadedPeer(const ThreadedPeer&) = delete;
  ThreadedPeer& operator=(const ThreadedPeer&) = delete;

  // The engine's part:
  // Serves the open connection until it is over. Each owner calls it. An exception ends only this connection,
  // and is counted.
  virtual void hold(std::size_t thread) = 0;
  // Passes publications to the session. The host calls it, so it must not wait for long. Returns false if the
  // owners have to be nudged.
  virtual bool pass_publications() noexcept = 0;
  // Ends the sleep of the owners. The host repeats the call while `nudged` is set.
  virtual void rouse() = 0;
  // Called with the lock held when one owner has left: hold() must return on the other owners.
  virtual void release_others() noexcept {}

  ThreadHost& host() const { return host_; }
  // Calls refresh() if the publication count differs from `seen_`. Call it with the lock held.
  void catch_up(Time now);
  // Ends the connection by a failure that concerns only this peer. Call it with the lock held; the owners
  // then leave.
  void break_off(const Failure& failure) noexcept;

  std::mutex mutex;
  Fd socket;                                   // used only by the first owner until the connection is open
  std::optional<StreamConnection> connection;  // set while the connection is open
  std::atomic<bool> nudged{false};             // set by the host, until an owner acknowledges it

 protected:
  void interrupt(std::size_t thread) { threads_[thread].interrupt(); }

 private:
  friend class ThreadHost;
  enum class Stage : std::uint8_t { spare, begun, opened, over, dismissed };  // dismissed: never begun

  void start();
  void begin(HostedPeer& place);
  void run(std::size_t thread) noexcept;
  void open();
  void leave() noexcept;
  Stage await_beyond(Stage stage);
  void enter(Stage stage);

  ThreadHost& host_;
  HostedPeer* place_ = nullptr;
  std::uint64_t seen_ = 0;  // the publication count that the session knows
  Stage stage_ = Stage::spare;
  std::condition_variable entered_;
  std::size_t present_ = 0;  // owners that have not left
  const std::size_t count_;  // the number of threads_
  std::unique_ptr<SmallThread[]> threads_;
};

// A connection in the books of the host. The threads have its socket and its session.
struct HostedPeer : Watched, LoopPeer {
  explicit HostedPeer(Fd&& owned) : LoopPeer(std::move(owned)) {}

  std::unique_ptr<ThreadedPeer> threads;  // while connecting, they wait
};

// The core of engines whose connections have threads of their own. It accepts and dials, without blocking,
// and passes each connection to threads that were started before. Polled adds the wait.
class ThreadHost : public LoopCore<HostedPeer> {
 public:
  using Peer = HostedPeer;

  ThreadHost(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  ~ThreadHost() override;  // ends all peers at once if they still run

  // Called by any thread:
  using LoopCore::hosting;
  Publications* publications() const { return publications_; }
  // Returns whether the host will soon pass a publication to all: no part of it need be sent.
  bool will_speak() const {
    return publications_ != nullptr && publications_->count() != passed_publications();
  }
  PipePool& pipes() { return pipes_; }
  bool draining() const { return draining_; }  // all owners are to finish
  bool ending() const { return ending_; }      // all owners are to leave, finished or not
  void left(Peer& peer) noexcept;              // its last owner has

 protected:
  virtual std::unique_ptr<ThreadedPeer> make() = 0;
  virtual void watch(Peer& peer, unsigned events) = 0;
  static void take_reports(Reports /*reports*/) {}

  void start_dials();
  Duration next_wait() const;
  void ready_peer(Peer& peer, unsigned events, int error);
  void ready_listener(const Listener& listener);
  void finish_turn();

 private:
  std::optional<Failure> shortage() override;
  std::string_view pause_note() const override { return kAcceptingPausedForThreads; }
  std::unique_ptr<ThreadedPeer> take_spare();
  void connect(Peer& peer) override;
  void tell(Peer& peer, News news) override;
  void serve(Peer& /*peer*/) override {}  // its threads do
  void begin(Peer& peer);
  void nudge(Peer& peer);
  void repeat_nudges();

  Publications* const publications_;
  PipePool pipes_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> ending_{false};
  Time nudge_again_ = Time::max();       // earlier while a nudge is not acknowledged
  std::unique_ptr<ThreadedPeer> spare_;  // its threads wait for a connection
  SharedQueue<Peer> ended_;              // their last owner has left
};

// The host of an engine whose peers are of the class `Threads`.
template <typename Threads>
class HostOf : public ThreadHost {
 public:
  using ThreadHost::ThreadHost;

 private:
  std::unique_ptr<ThreadedPeer> make() override { return std::make_unique<Threads>(*this); }
};

}  // namespace joust
