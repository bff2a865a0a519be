// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "connection/admission.hpp"
#include "engines/epoll.hpp"
#include "engines/loop/loop_core.hpp"
#include "engines/zeromq/peer.hpp"

namespace joust {

// A loop that resumes the coroutines of sockets of the library, and keeps their books: peers, joins,
// deadlines, dials, publications and stops. Used by one thread.
//
// Waiting. ZMQ_FD reports only once that the library has something to report. It becomes readable again only
// after the loop has taken note of everything: by a receive that finds nothing, or by reading ZMQ_EVENTS. A
// send may take note of a report in passing, and does not return it. So before the loop sleeps, each socket
// that was used has been received from until it was empty, or its ZMQ_EVENTS have been read: settle(). The
// loop sleeps in one epoll_wait for ZMQ_FD of every socket, for other threads and for the next deadline.
//
// Room. ZMQ_EVENTS does not report whether one peer of a ROUTER has room: a message for a peer without room
// is refused (EAGAIN). It is tried again when the library has something to report. A send may have taken note
// of just that report in passing. So while a pipe is full the loop also looks by itself, less and less often.
//
// No end. A ROUTER does not report that a peer has gone. A session ends by the goodbyes of MessageConnection,
// when something is to be sent to a peer that has gone (EHOSTUNREACH), or by the idle limit.
class ZmqLoop : public LoopCore<ZmqPeer> {
 public:
  using Peer = ZmqPeer;

  // `kind`: the kind of the server's link, if this is a server. A worker receives commands too.
  ZmqLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index, const ZmqContext& context,
          std::optional<ZmqSocket> server, ZmqLink::Kind kind,
          std::optional<ZmqSocket> commands = std::nullopt);
  ~ZmqLoop() override;
  void run();

 private:
  class Arrival;
  class Departure;
  // The result of a receive. A foreign message has a wrong number of parts.
  enum class Found : std::uint8_t { nothing, message, command, foreign };

  // The coroutines, and what resumes them.
  Task<> receive(ZmqLink& link);
  Task<> send(ZmqLink& link);
  static Found receive_message(ZmqLink& link);
  void resume(ZmqLink& link);

  // The turn of the loop
  void wait();
  void serve_links();
  void settle(ZmqLink& link);
  void retry_later(ZmqLink& link);
  void retry_blocked(ZmqLink& link);
  void finish_turn();
  void stop_by_and_by();
  void begin(ZmqLink& link);
  void watch(ZmqLink& link) { epoll_.watch(link.fd, link, EPOLLIN); }
  bool has_work(const ZmqLink& link) const { return link.may_receive() || link.may_send(); }

  // The overrides of LoopCore
  void connect(Peer& peer) override;
  void serve(Peer& peer) override;
  bool let_go(Peer& peer) override;
  void tell(Peer& peer, News news) override;

  void talk(Peer& peer);
  void await_answer(Peer& peer);
  int feel(Peer& peer);
  void note_lingering(Peer& peer);

  // Messages (exchange.cpp)
  void received(ZmqLink& link);
  void obey(Bytes command);
  void hear(Peer& peer, const Datagram& datagram);
  void hear_while_joining(Peer& peer, const Datagram& datagram);
  void hear_stranger(ZmqLink& link, const DatagramHead& head, Bytes from, Peer* known);
  void reply(ZmqLink& link, ZmqLink::Reply&& reply);
  void send_next(ZmqLink& link);
  void ask_front(ZmqLink& link, Peer& peer);
  void send_reply(ZmqLink& link);
  std::size_t collect(Peer& peer);
  static int put(ZmqLink& link, Bytes to, const DatagramOut& datagram);
  void sent(Peer& peer, std::size_t n);
  void refused(Peer& peer, int error);

  static constexpr std::size_t kBatch = 16;  // datagrams of one peer, before the next one
  // The bytes of a peer at which a worker asks, and at which it waits for the answer. With a batch, that is
  // three quarters of what the thread with the ROUTER holds.
  static constexpr std::size_t kShare = 1 << 20, kMostUnconfirmed = 2 << 20;
  static bool must_wait(const Peer& peer) { return peer.asks && peer.unconfirmed >= kMostUnconfirmed; }

  const ZmqContext& context_;
  const HashKey table_key_;
  const Admission admission_;
  std::uint64_t tokens_ = 0;
  EpollSet epoll_;
  Queue<ZmqLink> busy_;
  std::array<DatagramOut, kBatch> batch_;
  std::size_t lingering_ = 0;  // peers that only linger
  bool stopping_ = false;
  Time quiet_at_{}, quiet_at_last_{};  // during a stop: when nothing more is on its way
  std::optional<ZmqLink> server_, commands_;
};

// The commands that the thread with the ROUTER gives to a worker: one part, this byte and the identity of a
// peer.
enum class ZmqCommand : std::uint8_t {
  hold = 'h',     // its pipe is full: the worker sends nothing
  resume = 'r',   // it has room again
  gone = 'g',     // it has gone
  overrun = 'o',  // too much was held for it, and was dropped
  passed = 'p',   // the answer to ask_front(): what it was sent before has been passed on
};

}  // namespace joust
