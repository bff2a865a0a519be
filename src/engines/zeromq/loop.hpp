// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/fd.hpp"
#include "connection/datagram.hpp"
#include "connection/message_connection.hpp"
#include "connection/timer_queue.hpp"
#include "engines/epoll.hpp"
#include "engines/loop/dials.hpp"
#include "engines/loop/loop_core.hpp"
#include "engines/loop/poller.hpp"
#include "engines/loop/queue.hpp"
#include "engines/loop/task.hpp"
#include "engines/zeromq/library.hpp"

namespace joust {

struct ZmqPeer;

// The pauses before a full pipe is tried again without a report of the library.
inline constexpr Duration kFirstRetry = std::chrono::milliseconds(1);
inline constexpr Duration kLongestRetry = std::chrono::milliseconds(64);

// A socket of the library in a loop, and its two coroutines: a server's ROUTER, whose messages are the
// identity of a peer and a datagram, or a client's DEALER, whose messages are a datagram. As a Place, it is
// in the loop's queue of links that have something to do.
struct ZmqLink : Watched, Place {
  // The most answers to strangers that wait. Beyond these, strangers have to ask again.
  static constexpr std::size_t kMostReplies = 256;

  struct Reply {
    std::string to;
    DatagramHead head;
    Time until{};  // until then, an answer waits for room in a ROUTER's full pipe
  };

  ZmqLink(ZmqSocket&& owned, const HashKey& key)
      : Watched{Kind::shared}, socket(std::move(owned)), fd(socket.fd()), peers(key) {}
  bool is_server() const { return only == nullptr; }
  bool may_send() const { return writable && (!replies.empty() || !talkers.empty()); }
  // A report of the library need not be about room: not all blocked peers are tried in each turn.
  bool may_retry(Time now) const { return now >= retry_at || (signalled && now >= tried_at + kFirstRetry); }
  bool is_blocked() const { return !blocked.empty() || !put_off.empty(); }

  ZmqSocket socket;
  const int fd;            // ZMQ_FD
  bool input = true;       // no receive has found the socket empty
  bool writable = true;    // no send has found the socket full; a ROUTER is full for one peer at a time
  bool looked_at = false;  // the library has reported everything at the descriptor
  bool signalled = false;  // the descriptor was readable in this turn
  Queue<ZmqPeer> talkers;  // peers with output, in this order
  Queue<ZmqPeer> blocked;  // peers with output whose pipes were full
  Time retry_at{};         // when blocked peers are tried again, if no report comes before
  Duration retry_pause{};
  Time tried_at{};            // when they were tried last
  std::deque<Reply> replies;  // answers to strangers, and to peers whose connections were broken off
  std::deque<Reply> put_off;  // answers for which a ROUTER's pipe was full
  PeerTable<ZmqPeer> peers;   // of a server's link, by their identities
  ZmqPeer* only = nullptr;    // of a client's link

  // The message that was received last.
  std::array<ZmqPart, 2> parts;
  std::size_t receives_left = 0, sends_left = 0;  // left in this turn
  // The tasks are the last members, so that they are destroyed first: their frames refer to the others.
  Waiter arrival, departure;
  Task<> receiver, sender;
};

// A peer of a loop. As a Place, it is in a queue of its link, or among the peers that leave.
struct ZmqPeer : Timed, Place {
  explicit ZmqPeer(Fd&& feeler) : socket(std::move(feeler)) {}
  ZmqPeer(ZmqLink& shared, Bytes from, const MessageLink& agreed)
      : through(&shared), identity(as_text(from)), link(agreed) {}

  // A client's: checks whether a program listens, if no answer comes. The library has a socket of its own.
  Fd socket;
  bool leaving = false;
  std::optional<MessageConnection> connection;  // none while joining
  std::size_t index = 0;                        // for LoopCore: the position in peers()
  Dial dial;
  std::unique_ptr<ZmqLink> own;  // of a client
  ZmqLink* through = nullptr;
  std::string identity;  // of a server's peer: the identity by which the ROUTER knows it
  MessageLink link;
  std::optional<Joining> joining;  // of a client, until it is let in
  bool feels = false;              // `socket` has been used
  bool is_full = false;            // its pipe was full when it was tried last
  bool only_lingers = false;       // is counted in ZmqLoop::lingering_
};

// Makes the session of a peer. LoopCore calls it for a peer that was let in, or that was admitted.
void open_session(const Hosting& hosting, ZmqPeer& peer, Time now);

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
  std::size_t lingering_ = 0;          // peers that only linger
  Time quiet_at_{}, quiet_at_last_{};  // during a stop: when nothing more is on its way
  std::optional<ZmqLink> server_;
};

// Engine::run for the engines on ZeroMQ: a loop on each of -t threads.
void run_zeromq(const Hosting& hosting, Stop& stop);

}  // namespace joust
