// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/system/sockets.hpp"
#include "engines/engine.hpp"
#include "engines/files/file_input.hpp"
#include "engines/loop/loop_core.hpp"
#include "engines/loop/poller.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {

// The event that the peer has ended its direction of the stream. The poll of macOS does not report it, its
// kqueue does.
#ifdef POLLRDHUP
inline constexpr unsigned kReadHangUp = POLLRDHUP;
#else
inline constexpr unsigned kReadHangUp = 0x2000;
#endif

// A peer of an engine with a readiness interface. A ready flag is kept until recv or send clears it, so that
// edge-triggered engines lose no event.
struct ReadyPeer : Watched, LoopPeer {
  explicit ReadyPeer(Fd&& owned) : LoopPeer(std::move(owned)) {}

  bool readable = false;     // no recv has come up short since the kernel's report
  bool writable = true;      // no send has found the socket full
  bool end_is_near = false;  // the peer's end of stream or an error is still to be read
  bool has_hung_up = false;  // the kernel has reported a hang-up or an error, and need not do so again
  int error = 0;             // the socket's error, if the kernel has reported it with an event
};

// Reads from and writes to ready peers, for one thread, in turns of limited length. The sockets are
// non-blocking; an engine with blocking ones derives its own exchange.
class ReadyExchange {
 public:
  explicit ReadyExchange(const Hosting& hosting)
      : limits_(hosting.limits), buffer_(limits_.read_bytes), file_input_(hosting.tally, limits_) {}
  virtual ~ReadyExchange() = default;
  ReadyExchange(const ReadyExchange&) = delete;
  ReadyExchange& operator=(const ReadyExchange&) = delete;

  // Returns the flags for accept4() and socket().
  virtual int socket_flags() const { return SOCK_NONBLOCK; }
  // Prepares the socket of a peer, before the first call that could block.
  virtual void prepare(ReadyPeer& /*peer*/) const {}
  // Begins to connect. Returns EINPROGRESS, or how it has ended: 0 or an errno.
  virtual int connect(ReadyPeer& peer, const Endpoint& to) const;
  // Returns whether recv may be called although the kernel has reported nothing since the last one.
  virtual bool may_receive_again(const ReadyPeer& /*peer*/) const { return true; }

  // Records events of poll(2) that the kernel has reported.
  static void note_events(ReadyPeer& peer, unsigned events, Time now);

  // Returns the error of the socket, reported with an event or asked for now; 0 if it has none.
  static int error_of(const ReadyPeer& peer) {
    return peer.error != 0 ? peer.error : connect_result(peer.socket.get());
  }

  // Ends the connection if the socket has an error. For a peer from which nothing is wanted: neither recv nor
  // send would be called to report its reset.
  static void look_for_reset(ReadyPeer& peer, Time now);

  // Makes one read of a readable peer, as the session wants it: recv(), or a call of
  // engines/files/file_input.hpp for bytes of a file. Returns false when the socket is drained.
  bool receive_once(ReadyPeer& peer, Time now);

  // Reads and writes until the socket has no more, the session wants no more, or the turn's quota is used up.
  // In the last case it returns true, because more may be left to do. The input of one turn is answered by
  // one send, and a peer that sends without end does not delay the others. Sends nothing while
  // `is_batching()`.
  template <typename IsBatching>
  bool serve(ReadyPeer& peer, Time now, IsBatching&& is_batching) {
    StreamConnection& connection = *peer.connection;
    const std::uint64_t quota = connection.bytes_received() + limits_.read_bytes_per_turn;
    const auto may_receive = [&] { return peer.readable && connection.wants_input(); };
    bool unfinished = false;
    if (!may_receive() && !is_batching()) unfinished = flush(peer, now);
    while (may_receive()) {
      if (connection.bytes_received() >= quota) return true;
      peer.readable = receive_once(peer, now) && may_receive_again(peer);
      if (!is_batching()) unfinished |= flush(peer, now);
    }
    // A reset may have come with the last bytes, and if no more are wanted, no call reports it.
    if (peer.has_hung_up && !connection.ended() && !connection.wants_input()) look_for_reset(peer, now);
    return unfinished;
  }

 protected:
  // Make one call each, as receive_ready() and send_ready() do.
  virtual bool receive(ReadyPeer& peer, std::span<std::byte> buffer, Time now);
  virtual bool send(ReadyPeer& peer, Time now);

 private:
  bool flush(ReadyPeer& peer, Time now);

  const Limits& limits_;
  std::vector<std::byte> buffer_;
  FileInput file_input_;
};

// The core of the loops that read from and write to ready sockets themselves, in their own thread; Polled
// adds the wait. Events are those of poll(2): POLLIN, POLLOUT, kReadHangUp, POLLHUP, POLLERR.
class ReadyLoop : public LoopCore<ReadyPeer> {
 public:
  using Peer = ReadyPeer;

  ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
      : ReadyLoop(hosting, stop, group, index, std::make_unique<ReadyExchange>(hosting)) {}
  ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
            std::unique_ptr<ReadyExchange> exchange);

 protected:
  virtual void watch(Peer& peer, unsigned events) = 0;
  void take_reports(Reports reports) { reports_ = reports; }

  void start_dials();
  Duration next_wait() const;
  void ready_peer(Peer& peer, unsigned events, int error);
  void ready_listener(const Listener& listener);
  void finish_turn();

 private:
  unsigned wanted(const Peer& peer) const;
  void arm(Peer& peer);
  void connect(Peer& peer) override;
  void serve(Peer& peer) override;
  void look_for_resets();
  void stop_by_and_by();

  Reports reports_;
  bool any_unseen_ = false;  // the reset of some peer is not reported: it is looked for
  Time look_at_{};
  const std::unique_ptr<ReadyExchange> exchange_;
  Queue<Peer> unfinished_;  // more to read or to send than the turn's quota allows
};

}  // namespace joust
