// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/files/file_io.hpp"
#include "engines/loop/loop_core.hpp"

namespace joust {

// A peer of a loop with a readiness interface. A ready flag is kept until recv or send clears it, so that
// edge-triggered engines lose no event.
struct ReadyPeer : LoopPeer {
  using LoopPeer::LoopPeer;
  static constexpr unsigned kUnwatched = ~0U;

  bool readable = false;        // no recv has come up short since the kernel's report
  bool writable = true;         // no send has found the socket full
  bool end_is_near = false;     // the peer's end of stream or an error is still to be read
  unsigned armed = kUnwatched;  // for the engine: the events watched
};

// The steps that follow when a socket is ready, shared by select, poll, epoll and kqueue. The engine waits in
// its own way and reports the events here; ready peers are read from and written to within their quota. A
// turn of an engine's loop is:
//
//     start_dials(); wait, then for what the kernel reports:
//       ready(peer, events), ready_listener(listener), admit_dealt() (the inbox), request_stop() (the stop)
//     finish_turn();
//
// Events are those of poll(2): POLLIN, POLLOUT, POLLRDHUP, POLLHUP, POLLERR.
class ReadyLoop : public LoopCore<ReadyPeer> {
 public:
  using Peer = ReadyPeer;

  ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);

 protected:
  // The engine's part: watch the events of interest(), if these have changed. A peer is watched from its
  // first serve() to its end; let_go() reports the end.
  virtual void watch(Peer& peer) = 0;

  // POLLIN, POLLOUT, both or neither. A peer without an interest is still watched for a reset.
  unsigned interest(const Peer& peer) const;
  // True if the listeners are to be watched: there is room for more connections.
  bool accepts() const { return !listeners().empty() && !accepting_paused(); }
  // True until the stop has been handled. Its descriptor stays readable for good.
  bool awaits_stop() const { return !stopping_; }

  void start_dials();
  Duration next_wait() const;
  // Evaluates the result of a waiting call and takes the turn's time stamp. Returns the number of ready
  // descriptors: 0 after a signal, and 0 after a pause at a shortage of kernel memory. Throws
  // std::system_error, with the name of the call, for any other error.
  std::size_t woken(int result, const char* call);

  void ready(Peer& peer, unsigned events);
  void ready_listener(const Listener& listener);
  void request_stop() { stopping_ = true; }
  void finish_turn();

 private:
  void connect(Peer& peer) override;
  void serve(Peer& peer) override;
  bool receive(Peer& peer);
  void flush(Peer& peer);
  void put_off(Peer& peer);
  void resume_unfinished();
  void stop_by_and_by();

  bool stopping_ = false;
  std::vector<std::byte> buffer_;
  FilePipe pipe_;
  Queue<Peer> unfinished_;  // more to read or to send than the turn's quota allows
};

}  // namespace joust
