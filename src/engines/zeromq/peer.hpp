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
#include "connection/joining.hpp"
#include "connection/message_connection.hpp"
#include "connection/peer_table.hpp"
#include "connection/timer_queue.hpp"
#include "engines/coroutines/task.hpp"
#include "engines/coroutines/waiter.hpp"
#include "engines/loop/dials.hpp"
#include "engines/loop/queue.hpp"
#include "engines/zeromq/library.hpp"

namespace joust {

struct ZmqPeer;

// The pauses before a full pipe is tried again without a report of the library.
inline constexpr Duration kFirstRetry = std::chrono::milliseconds(1);
inline constexpr Duration kLongestRetry = std::chrono::milliseconds(64);

// The memory that a waiting message takes besides its bytes, at the least.
inline constexpr std::size_t kBesidesDatagram = 128;

// A socket of the library in a loop, and its two coroutines. As a Place, it is in the loop's queue of links
// that have something to do.
struct ZmqLink : Place {
  // The kind of a link. A message of a link is the identity of a peer and a datagram, or a single part.
  enum class Kind : std::uint8_t {
    router,    // a server's, which reaches all its peers
    worker,    // a worker's, which reaches its peers by the thread that has the ROUTER
    commands,  // a worker's, for commands of that thread: a single part
    dealer,    // a client's, which reaches one peer: a datagram alone
  };
  static constexpr unsigned kUnwatched = ~0U;
  // The most answers to strangers that wait. Beyond these, strangers have to ask again.
  static constexpr std::size_t kMostReplies = 256;

  struct Reply {
    std::string to;
    DatagramHead head;
    Time until{};  // until then, an answer waits for room in a ROUTER's full pipe
  };

  ZmqLink(ZmqSocket&& owned, Kind which, const HashKey& key)
      : kind(which), socket(std::move(owned)), fd(socket.fd()), peers(key) {}
  bool may_send() const { return writable && (!replies.empty() || !talkers.empty()); }
  // A worker receives no more messages to answer while its sessions cannot pass on what they have. The thread
  // that has the ROUTER always takes that, so this does not last.
  bool may_receive() const { return input && awaiting.empty() && (writable || kind != Kind::worker); }
  // A report of the library need not be about room: not all blocked peers are tried in each turn.
  bool may_retry(Time now) const { return now >= retry_at || (signalled && now >= tried_at + kFirstRetry); }
  bool is_blocked() const { return !blocked.empty() || !put_off.empty(); }

  const Kind kind;
  ZmqSocket socket;
  const int fd;  // ZMQ_FD
  unsigned armed = kUnwatched;
  bool input = true;        // no receive has found the socket empty
  bool writable = true;     // no send has found the socket full; a ROUTER is full for one peer at a time
  bool looked_at = false;   // the library has reported everything at the descriptor
  bool signalled = false;   // the descriptor was readable in this turn
  Queue<ZmqPeer> talkers;   // peers with output, in this order
  Queue<ZmqPeer> blocked;   // peers with output whose pipes were full
  Queue<ZmqPeer> awaiting;  // peers with output, whose earlier output is to be confirmed first
  Time retry_at{};          // when blocked peers are tried again, if no report comes before
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
  bool is_held = false;            // its pipe is full, as the thread with the ROUTER has reported
  bool asks = false;               // it waits for the answer of that thread to ask_front()
  std::size_t unconfirmed = 0;     // bytes that the thread may not have passed on yet,
  std::size_t asked = 0;           // and those of them that came before the question
  bool only_lingers = false;       // is counted in ZmqLoop::lingering_
};

// Makes the session of a peer. LoopCore calls it for a peer that was let in, or that was admitted.
void open_session(const Hosting& hosting, ZmqPeer& peer, Time now);

}  // namespace joust
