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

// The pauses before a full pipe is tried again without a word of the library.
inline constexpr Duration kFirstRetry = std::chrono::milliseconds(1);
inline constexpr Duration kLongestRetry = std::chrono::milliseconds(64);

// What a message that waits takes besides its bytes, at the least.
inline constexpr std::size_t kBesidesDatagram = 128;

// A socket of the library in a loop, and its two coroutines. As a Place, it is in the loop's queue of those
// that have something to do.
struct ZmqLink : Place {
  // What a message consists of: the identity of its peer and a datagram, or a datagram alone.
  enum class Kind : std::uint8_t {
    router,    // a server's, through which all its peers are reached
    worker,    // likewise, by way of the thread that has the ROUTER
    commands,  // of that thread: of one part
    dealer,    // a client's, of one peer
  };
  static constexpr unsigned kUnwatched = ~0U;
  // Answers to strangers that wait. Beyond these, strangers have to ask again.
  static constexpr std::size_t kMostReplies = 256;

  struct Reply {
    std::string to;
    DatagramHead head;
    Time until{};  // a ROUTER's pipe that is full may have room by then
  };

  ZmqLink(ZmqSocket&& owned, Kind which, const HashKey& key)
      : kind(which), socket(std::move(owned)), fd(socket.fd()), peers(key) {}
  bool may_send() const { return writable && (!replies.empty() || !talkers.empty()); }
  // A worker's sessions get nothing more to answer while they cannot pass on what they have. The thread that
  // has the ROUTER always takes that, so this does not last.
  bool may_receive() const { return input && awaiting.empty() && (writable || kind != Kind::worker); }
  // The library has said something, which need not be of room: not for all of these in each turn.
  bool may_retry(Time now) const { return now >= retry_at || (signalled && now >= tried_at + kFirstRetry); }
  bool is_blocked() const { return !blocked.empty() || !put_off.empty(); }

  const Kind kind;
  ZmqSocket socket;
  const int fd;  // ZMQ_FD
  unsigned armed = kUnwatched;
  bool input = true;        // no receive has found it empty
  bool writable = true;     // no send has found it full; a ROUTER is full for one peer at a time
  bool looked_at = false;   // the library has nothing that it has not said at the descriptor
  bool signalled = false;   // the descriptor was readable in this turn
  Queue<ZmqPeer> talkers;   // have something to send, in this order
  Queue<ZmqPeer> blocked;   // likewise, but their pipes were full
  Queue<ZmqPeer> awaiting;  // likewise, but what they have sent is to be confirmed first
  Time retry_at{};          // when to try these again, if nothing is said before
  Duration retry_pause{};
  Time tried_at{};            // last
  std::deque<Reply> replies;  // to strangers, and to peers whose connections were broken off
  std::deque<Reply> put_off;  // of these, where a pipe was full
  PeerTable<ZmqPeer> peers;   // a server's, by their identities
  ZmqPeer* only = nullptr;    // a client's

  // The message that was received last.
  std::array<ZmqPart, 2> parts;
  std::size_t receives_left = 0, sends_left = 0;  // of this turn
  // The tasks come last, to be destroyed first: their frames refer to the rest.
  Waiter arrival, departure;
  Task<> receiver, sender;
};

// A peer of a loop. As a Place, it is in a queue of its link, or leaves.
struct ZmqPeer : Timed, Place {
  explicit ZmqPeer(Fd&& feeler) : socket(std::move(feeler)) {}
  ZmqPeer(ZmqLink& shared, Bytes from, const MessageLink& agreed)
      : through(&shared), identity(as_text(from)), link(agreed) {}

  Fd socket;  // a client's: it asks whether anybody listens, where no answer comes; the library has its own
  bool leaving = false;
  std::optional<MessageConnection> connection;  // none while joining
  std::size_t index = 0;                        // for LoopCore: the position in peers()
  Dial dial;
  std::unique_ptr<ZmqLink> own;  // a client's
  ZmqLink* through = nullptr;
  std::string identity;  // of a server's peer: by what the ROUTER knows it
  MessageLink link;
  std::optional<Joining> joining;  // a client's, until it is let in
  bool feels = false;              // `socket` has been used
  bool is_full = false;            // its pipe was, when it was tried last
  bool is_held = false;            // its pipe is full, as the thread with the ROUTER has said
  bool asks = false;               // that thread, whether it has passed on what came before the question
  std::size_t unconfirmed = 0;     // bytes that the thread may not have passed on yet,
  std::size_t asked = 0;           // and those of them before the question
  bool only_lingers = false;       // is counted as such
};

// LoopCore calls it for a peer that was let in, or that was admitted.
void open_session(const Hosting& hosting, ZmqPeer& peer, Time now);

}  // namespace joust
