// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/files/file_io.hpp"
#include "engines/loop/loop_core.hpp"

namespace joust {

// A peer of a loop that is told when sockets are ready. What the kernel has said is remembered until recv or
// send has said otherwise, so that an engine whose kernel speaks only once loses nothing.
struct ReadyPeer : LoopPeer {
  using LoopPeer::LoopPeer;
  static constexpr unsigned kUnwatched = ~0U;

  bool readable = false;        // recv has not come up short since the kernel said so
  bool writable = true;         // send has not come up short
  bool end_is_near = false;     // the peer's end or an error is waiting to be read
  unsigned armed = kUnwatched;  // the engine's own: what the kernel has been asked for
};

// The steps that follow when a socket is ready: shared by select, poll, epoll and kqueue. The engine asks the
// kernel in its own way, and says here what came of it; here a ready peer is read from and written to, within
// its quota. A turn of an engine's loop is:
//
//     start_dials(); wait, then for what the kernel reports:
//       ready(peer, events), ready_listener(listener), admit_dealt() (the inbox), request_stop() (the stop)
//     finish_turn();
//
// Events are in the words of poll(2): POLLIN, POLLOUT, POLLRDHUP, POLLHUP, POLLERR.
class ReadyLoop : public LoopCore<ReadyPeer> {
 public:
  using Peer = ReadyPeer;

  ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);

 protected:
  // The engine's part: have the kernel report what interest() says, where that has changed. A peer is watched
  // from its first serve() to its end; let_go() tells of the end.
  virtual void watch(Peer& peer) = 0;

  // POLLIN, POLLOUT, both or neither. A peer without an interest still has its reset heard.
  unsigned interest(const Peer& peer) const;
  // Whether there are peers waiting to be accepted for whom there is room.
  bool accepts() const { return !listeners().empty() && !accepting_paused(); }
  // Whether the stop is still to be heard of. It stays readable for good.
  bool awaits_stop() const { return !stopping_; }

  void start_dials();
  Duration next_wait() const;
  // What a waiting call has returned: the number of descriptors that are ready. A signal counts as none, a
  // shortage of the kernel as none after a pause; throws std::system_error, with the name of the call, for
  // the rest. Takes the turn's time stamp.
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
  Queue<Peer> unfinished_;  // more to read or to send than one turn's quota
};

}  // namespace joust
