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

  ZmqLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index, const ZmqContext& context);
  ~ZmqLoop() override;
  void run();

 private:
  // The result of a receive. A foreign message has a wrong number of parts.
  enum class Found : std::uint8_t { nothing, message, foreign };

  // The coroutines, and what resumes them (zeromq.cpp)
  Task<> receive(ZmqLink& link);
  Task<> send(ZmqLink& link);
  void resume(ZmqLink& link);
  Found receive_message(ZmqLink& link);
  static int put(ZmqLink& link, Bytes to, const DatagramOut& datagram);

  // The turn of the loop
  void wait();
  void serve_links();
  void settle(ZmqLink& link);
  void retry_later(ZmqLink& link);
  void retry_blocked(ZmqLink& link);
  void finish_turn();
  void stop_by_and_by();
  void begin(ZmqLink& link);
  friend class Epoll;
  void ready(Watched& what, unsigned events);
  void note_arrival();

  // The overrides of LoopCore
  void connect(Peer& peer) override;
  void serve(Peer& peer) override;
  bool let_go(Peer& peer) override;
  void tell(Peer& peer, News news) override;

  void talk(Peer& peer);
  void await_answer(Peer& peer);
  int feel(Peer& peer);
  void note_lingering(Peer& peer);

  // Messages
  void received(ZmqLink& link);
  void hear(Peer& peer, const Datagram& datagram);
  void hear_while_joining(Peer& peer, const Datagram& datagram);
  void hear_stranger(ZmqLink& link, const DatagramHead& head, Bytes from, Peer* known);
  void reply(ZmqLink& link, ZmqLink::Reply&& reply);
  void send_next(ZmqLink& link);
  void send_reply(ZmqLink& link);
  std::size_t collect(Peer& peer);
  void sent(Peer& peer, std::size_t n);
  void refused(Peer& peer, int error);

  static constexpr std::size_t kBatch = 16;  // datagrams of one peer, before the next one
  // The messages of a link in one iteration of the loop, before other links have their turn.
  static constexpr std::size_t kMostReceived = 1024, kMostReceivedByClient = 64, kMostSends = 4096;

  const ZmqContext& context_;
  const HashKey table_key_;
  const Admission admission_;
  std::uint64_t tokens_ = 0;
  Doors doors_;
  Epoll epoll_{hosting()};
  Queue<ZmqLink> busy_;
  std::array<DatagramOut, kBatch> batch_;
  std::size_t lingering_ = 0;  // peers that only linger
  bool stopping_ = false;
  Time quiet_at_{}, quiet_at_last_{};  // during a stop: when nothing more is on its way
  std::optional<ZmqLink> server_;
};

// Engine::run for the engines on ZeroMQ: a loop on each of -t threads.
void run_zeromq(const Hosting& hosting, Stop& stop);

}  // namespace joust
