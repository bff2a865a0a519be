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
#include "engines/loop/poller.hpp"
#include "engines/loop/queue.hpp"
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

}  // namespace joust
