// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/queue.hpp"
#include "engines/pool/hand_over.hpp"

namespace joust {

// The state of a peer that a pool needs, in addition to the engine's.
struct PoolPeer {
  Holding holding;
  std::atomic<Time> wakes_at{Time::max()};  // when the main thread will note the deadline
  bool reported = false;                    // for PoolCore, under its mutex: a deadline is to be armed,
  Time reported_due{};                      // at this time
  void* reported_before = nullptr;
};

// The bookkeeping of a pool: a main thread, whose LoopCore knows all peers, and workers, which use the
// connections. The main thread notes its news and hands the peer to a worker. It touches a connection only
// when it is the peer's holder: when the connection has ended, and when the engine wants a peer back after
// each piece of work. Without workers (-t 0) it does their work itself.
//
// Peer derives from LoopPeer and from PoolPeer. A Loop of an engine does in its turn:
//
//     start_dials(); wait; hand(peer, notes) for what is ready; finish_turn()
template <typename Peer>
class PoolCore : public LoopCore<Peer> {
 public:
  PoolCore(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);

  // The threads of the workers, from construction to destruction.
  class Workers {
   public:
    explicit Workers(PoolCore& pool);
    ~Workers() { pool_.tasks_.end(); }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

   private:
    PoolCore& pool_;
    std::vector<std::jthread> threads_;
  };

 protected:
  using News = typename LoopCore<Peer>::News;

  // The engine's part, called by the peer's holder. `worker` counts from 0, to select what each thread has of
  // its own. It may throw for reasons that concern only that peer.
  virtual void exchange(Peer& peer, unsigned notes, std::size_t worker, Time now) = 0;
  // The engine's part, after exchange(): the holder has no more to do. Watches the peer at once and returns
  // true. Or returns false: then returned() watches the peer, when the main thread has it back.
  virtual bool rest(Peer& peer) = 0;
  virtual void returned(Peer& /*peer*/) {}
  // The engine's part, called by the holder. Returns false if the session cannot get the stop yet. The engine
  // then hands the peer over with Holding::kStop again.
  virtual bool may_tell_stop(Peer& /*peer*/) { return true; }
  // The engine's part in the turn in which all listeners are closed, before the sessions get the stop.
  virtual void stop_by_and_by() = 0;

  // Called by the main thread, for a peer that has a session or will have one.
  void hand(Peer& peer, unsigned notes);
  void finish_turn();
  // A connect to a unix socket succeeds at once, so peers may wait for the workers before the wait.
  Duration next_wait() const { return batch_.empty() ? LoopCore<Peer>::next_wait() : Duration::zero(); }

  // Returns true while publications wait to be passed on: no output need be sent now. Called by any thread.
  bool awaits_publications() const;

 private:
  void tell(Peer& peer, News news) final;
  void serve(Peer& /*peer*/) final {}  // never called: tell() hands the peer over

  void hand_over();
  void work(Peer& peer, std::size_t worker);
  bool take_turn(Peer& peer, std::size_t worker);
  void fail(Peer& peer, const Failure& failure, Time now) noexcept;
  void report(Peer& peer, Time due);
  void give_back(Peer& peer);
  void take_reports();
  void take_back(Peer& peer);

  // How long the main thread leaves events in the kernel while all workers are busy.
  static constexpr Duration kMostBusy = std::chrono::milliseconds(1);

  Publications* const publications_;
  std::atomic<std::uint64_t> passed_{0};  // the publication count that is noted for all peers
  Queue<Peer> batch_;                     // held by the main thread, for the workers
  TaskQueue<Peer> tasks_;

  std::mutex mutex_;
  Peer* last_reported_ = nullptr;  // under the mutex, like given_back_
  Queue<Peer> given_back_;
};

// Engine::run for a pool whose main thread is an object of the class Pool.
template <typename Pool>
void run_pool(const Hosting& hosting, Stop& stop) {
  LoopGroup group(1);
  const auto run = [&](std::size_t index, const Begin& begin) {
    Pool pool(hosting, stop, group, index);
    const typename Pool::Workers workers(pool);
    begin();
    pool.read_clock();
    pool.run();
  };
  run_loops(1, stop, run, hosting.on_ready);
}

}  // namespace joust
