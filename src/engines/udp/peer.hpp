// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/shares.hpp"
#include "connection/datagram.hpp"
#include "connection/message_connection.hpp"
#include "connection/timer_queue.hpp"
#include "engines/loop/dials.hpp"
#include "engines/loop/poller.hpp"
#include "engines/loop/queue.hpp"
#include "net/address.hpp"

namespace joust {

struct UdpPeer;

// Notifies a loop that some of its peers are to give way: see Shares. Any thread may call give().
class UdpNotice {
 public:
  explicit UdpNotice(Wakeable& loop) : loop_(loop) {}
  void give() noexcept {
    given_.store(true);
    loop_.wake();
  }
  bool take() { return given_.exchange(false); }

 private:
  std::atomic<bool> given_{false};
  Wakeable& loop_;
};

// The place of a peer in the account of its server.
class UdpPlace final : public Shares::Holder {
 public:
  // Throws std::system_error if the account has no place for this address.
  UdpPlace(Shares& places, PeerAddress address, UdpNotice& notice, Time now);
  ~UdpPlace() override { places_.free(*this); }

  bool gives_way() const { return gives_way_.load(); }

 private:
  void give_way() noexcept override {
    gives_way_.store(true);
    notice_.give();
  }

  Shares& places_;
  UdpNotice& notice_;
  std::atomic<bool> gives_way_{false};
};

// Returns the bytes that identify a peer of a socket.
inline Bytes bytes_of(const Endpoint& endpoint) {
  return std::as_bytes(std::span(reinterpret_cast<const char*>(&endpoint.storage), endpoint.size));
}

// The part of a socket's state that belongs to an engine.
struct UdpEnginePart {
  UdpEnginePart() = default;
  virtual ~UdpEnginePart() = default;
  UdpEnginePart(const UdpEnginePart&) = delete;
  UdpEnginePart& operator=(const UdpEnginePart&) = delete;
};

// A socket of a loop. A server's socket reaches all its peers. A client's socket is connected to one peer, or
// receives from a group. As a Place, it is in the loop's queue of sockets that have something to send.
struct UdpSocket : Watched, Place {
  // The most answers to strangers that wait for room in the socket. Beyond these, strangers have to ask
  // again.
  static constexpr std::size_t kMostReplies = 256;

  struct Reply {
    Endpoint to;
    DatagramHead head;
  };

  UdpSocket(int borrowed, const HashKey& key) : Watched{Kind::shared}, fd(borrowed), peers(key) {}
  UdpSocket(Fd of_its_own, const HashKey& key)
      : Watched{Kind::shared}, owned(std::move(of_its_own)), fd(owned.get()), peers(key) {}
  bool has_talkers() const { return !replies.empty() || !talkers.empty(); }
  bool may_send() const { return writable && has_talkers(); }

  Fd owned;  // not open where the socket has another owner
  int fd;
  bool writable = true;                 // no send has found it full
  unsigned failures = 0;                // failed sends since the last one that succeeded
  bool joins_datagrams = false;         // the kernel joins datagrams for this socket (UDP_GRO)
  Queue<UdpPeer> talkers;               // peers that have something to send, in this order
  std::deque<Reply> replies;            // answers to strangers
  PeerTable<UdpPeer> peers;             // of a server's socket
  UdpPeer* only = nullptr;              // of a client's socket
  std::unique_ptr<UdpEnginePart> part;  // null until the engine makes it
};

// A peer of a loop. As a Place, it is in the queue of its socket's talkers, or among the peers that leave.
struct UdpPeer : Timed, Place {
  explicit UdpPeer(Fd&& owned) : socket(std::move(owned)) {}
  // `ready`: the session, if it is not that of a connection.
  UdpPeer(UdpSocket& shared, const Endpoint& from, const MessageLink& agreed,
          std::unique_ptr<Session> ready = nullptr)
      : session(std::move(ready)), through(&shared), address(from), link(agreed) {}

  // Returns null if the socket is connected.
  const Endpoint* destination() const { return connected ? nullptr : &address; }

  Fd socket;                        // the socket of a client
  std::unique_ptr<UdpPlace> place;  // of a server's peer, if an account is kept; or null
  bool leaving = false;
  std::optional<MessageConnection> connection;  // none while joining
  std::size_t index = 0;                        // for LoopCore: the position in peers()
  Dial dial;
  std::unique_ptr<Session> session;  // until `connection` exists
  std::unique_ptr<UdpSocket> own;    // the socket of a client
  std::unique_ptr<UdpSocket> group;  // of a client whose server sends to a group
  UdpSocket* through = nullptr;      // the socket by which the peer is reached
  bool connected = false;            // that socket is connected to the peer
  Endpoint address;                  // the address of the peer, if it is not connected
  MessageLink link;
  std::optional<Joining> joining;  // of a client, until it is let in
  unsigned refusals = 0;           // refusals since the last datagram from the peer
  bool only_lingers = false;       // is counted in UdpLoop::lingering_
};

// The datagrams that an engine sends next from one socket, one by one or with one call. They refer to bytes
// of sessions, and are invalid once anything else has happened.
class UdpBatch {
 public:
  explicit UdpBatch(std::size_t most) : datagrams_(most), to_(most) { runs_.reserve(most); }

  std::size_t size() const { return size_; }
  bool full() const { return size_ == datagrams_.size(); }
  const DatagramOut& datagram(std::size_t i) const { return datagrams_[i]; }
  // Returns null if the socket is connected.
  const Endpoint* to(std::size_t i) const { return to_[i]; }

 private:
  friend class UdpLoop;
  // A row of datagrams of one peer, or a reply to a stranger.
  struct Run {
    UdpPeer* peer;
    std::size_t count;
  };

  void clear() {
    size_ = 0;
    runs_.clear();
  }
  std::span<DatagramOut> room() { return std::span(datagrams_).subspan(size_); }
  void add(UdpPeer* peer, const Endpoint* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to_[size_ + i] = to;
    size_ += count;
    runs_.push_back({peer, count});
  }

  std::vector<DatagramOut> datagrams_;
  std::vector<const Endpoint*> to_;
  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

// Returns the pieces of a datagram, for sendmsg().
inline std::array<iovec, 2> pieces_of(const DatagramOut& datagram) {
  return {iovec{const_cast<std::byte*>(datagram.head.data()), datagram.head_size},
          iovec{const_cast<std::byte*>(datagram.tail.data()), datagram.tail.size()}};
}

// Makes the session of a peer. LoopCore calls it for a peer that was let in, or that was admitted.
void open_session(const Hosting& hosting, UdpPeer& peer, Time now);

// The plain calls of the engines on UDP: one datagram each. They do not block, and fail as the system calls
// do.

// Calls recvfrom(). A buffer of kUdpBuffer bytes holds every datagram.
ssize_t receive_datagram(int fd, std::span<std::byte> buffer, Endpoint& from);

// Calls sendto(), or sendmsg() for a long message, which stays where it is and is sent together with its
// header. `to` is null if the socket is connected.
ssize_t send_datagram(int fd, const DatagramOut& datagram, const Endpoint* to);

// Returns true for errors that the network reports for an earlier datagram.
bool is_of_network(int error);

}  // namespace joust
