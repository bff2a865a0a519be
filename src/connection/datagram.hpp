// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/bytes.hpp"
#include "connection/timer_queue.hpp"
#include "joust/bytes.hpp"
#include "joust/time.hpp"

namespace joust {

// The format of the datagrams of message connections, big endian:
//
//   2  "J1"                      8  token of the connection, chosen by the client; or of a group
//   1  kind                      8  number, see below
//   1  flags                     2  size of the payload
//   4  check of all the rest     payload
//
// The check detects damage on the way, also where UDP has no checksum. It does not protect against an
// attacker: the token does.

enum class DatagramKind : std::uint8_t {
  join = 1,   // by a client; the number is the cookie, 0 at first; padded
  challenge,  // by a server; the number is the cookie to be sent back
  joined,     // by a server; the number is its idle limit in milliseconds. With a group, its place follows
  data,       // the number counts data, from 0 in each direction
  leave,      // the sender has finished; the number is how many of its data it has sent
  left,       // the answer to `leave`; the number is how many data its sender has sent. With `unknown`,
              // it comes from a server without such a connection. In `leave` and
              // `left` of a server with a group, its count follows
};

struct DatagramHead {
  static constexpr std::size_t kBytes = 26;

  DatagramKind kind{};
  bool packed = false;      // data: several messages, each after its size of 2 bytes
  bool keep_alive = false;  // join: of an existing connection; makes no other
  bool unknown = false;     // left
  bool group = false;       // challenge: the server also sends to a group, which the client is to join
  std::uint64_t token = 0;
  std::uint64_t number = 0;
};

struct Datagram {
  DatagramHead head;
  Bytes payload;  // borrowed
};

// The largest payload of UDP over IPv4, with a header of 8 bytes in a packet of at most 65,535.
inline constexpr std::size_t kLargestDatagram = 65'507;
// The largest datagram that fits into a packet of Ethernet, with the headers of IPv6, UDP and a tunnel.
inline constexpr std::size_t kPlainDatagram = 1'400;
// The size to which a join is padded, so that every answer to it is shorter.
inline constexpr std::size_t kJoinBytes = 64;

// Sizes of a group's data in signals: its token and the number of its next datagram, or that number alone.
inline constexpr std::size_t kGroupPlaceBytes = 16, kGroupCountBytes = 8;

// A datagram to be sent: `head` and then `tail`. Short messages are copied behind the header. Long ones stay
// in place.
struct DatagramOut {
  std::array<std::byte, kPlainDatagram> head;  // uninitialized
  std::size_t head_size = 0;
  Bytes tail{};

  std::size_t size() const { return head_size + tail.size(); }
  Bytes front() const { return {head.data(), head_size}; }
};

// Writes the header in front of `payload`, which is in out.head after the header's place, or in other memory.
void write_datagram(const DatagramHead& head, Bytes payload, DatagramOut& out);
// Writes a datagram without messages, padded if the kind needs it. `payload`: the group's data.
void write_signal(const DatagramHead& head, DatagramOut& out, Bytes payload = {});

// The reason why bytes are no datagram: of another protocol, or incomplete or damaged.
enum class NoDatagram : std::uint8_t { foreign, truncated };
std::expected<Datagram, NoDatagram> parse_datagram(Bytes bytes);

// Takes the next message off the beginning of a datagram's payload. Returns nothing at the end, and if the
// rest is malformed.
inline constexpr std::size_t kPackedSizeBytes = 2;
std::optional<Bytes> take_message(const DatagramHead& head, Bytes& payload);

// Returns whether the payload has the form of its kind. For data: at least one message, none of them empty,
// and the last one ends with the payload. For signals: their padding or the group's data.
bool is_well_formed(const Datagram& datagram);

// A server's answers to datagrams of unknown connections. The server stores nothing for an unknown sender:
// the cookie that the sender has to send back is computed again from its address and token. So a forged
// address costs no memory, and gets no more bytes than it has sent. An answer is never itself answered, so
// two servers, or a server and itself, cannot keep each other busy. It makes no system call. One thread.
class Admission {
 public:
  explicit Admission(const HashKey& key) : key_(key) {}

  // Returns the answer to a sender without a connection, or whose connection has ended.
  static DatagramHead unknown(std::uint64_t token) {
    return {.kind = DatagramKind::left, .unknown = true, .token = token};
  }

  struct Answer {
    bool admitted = false;                // a connection is to be made, which answers
    std::optional<DatagramHead> reply{};  // the datagram to send; without both, the datagram is foreign
  };
  // Answers a datagram. `address`: the bytes that distinguish the sender from others.
  Answer answer(const DatagramHead& head, Bytes address, Time now) const;

  // Returns a value that cannot be guessed, a different one for each number.
  std::uint64_t token(std::uint64_t number) const;

  // Cookies are valid for one to two periods.
  static constexpr Duration kPeriod = std::chrono::seconds(30);

 private:
  std::uint64_t cookie(std::uint64_t token, Bytes address, std::uint64_t period) const;

  HashKey key_;
};

// A client's handshake for a connection: asks the server until it has agreed. It makes no system call and has
// no limit: its owner gives up. One thread.
class Joining {
 public:
  // The token must be impossible to guess.
  Joining(std::uint64_t token, Time now)
      : token_(token), pauses_(kFirstPause, kLongestPause, token), due_(now) {}

  Time due() const { return due_; }  // when a join is to be sent
  bool output(DatagramOut& out, Time now) const {
    if (now < due_) return false;
    write_signal({.kind = DatagramKind::join, .token = token_, .number = cookie_}, out);
    return true;
  }
  void sent(Time now) { due_ = now + pauses_.next(); }

  // Returns true when the server has agreed. Other datagrams are ignored.
  bool received(const DatagramHead& head, Time now) {
    if (head.token != token_) return false;
    if (head.kind == DatagramKind::challenge && cookie_ != head.number) {
      cookie_ = head.number;
      due_ = now;
      pauses_.restart();
    }
    return head.kind == DatagramKind::joined && cookie_ != 0;
  }

  std::uint64_t token() const { return token_; }
  std::uint64_t cookie() const { return cookie_; }

 private:
  // Pauses longer than a round trip on any network that loads are run on, and short beside the connect limit.
  static constexpr Duration kFirstPause = std::chrono::milliseconds(100);
  static constexpr Duration kLongestPause = std::chrono::seconds(1);

  std::uint64_t token_;
  std::uint64_t cookie_ = 0;
  Backoff pauses_;
  Time due_;
};

// The peers of one socket by their addresses, which are the bytes that a transport distinguishes them by.
// Only confirmed peers are in the table. Its hash has a key, so that an attacker cannot choose addresses with
// the same hash. Borrows the peers. One thread.
template <typename Peer>
class PeerTable {
 public:
  explicit PeerTable(const HashKey& key) : peers_(0, Hash{key}) {}

  // Returns null if no peer has this address.
  Peer* find(Bytes address) const {
    const auto found = peers_.find(as_text(address));
    return found == peers_.end() ? nullptr : found->second;
  }
  // Adds a peer, in place of another peer with this address.
  void add(Bytes address, Peer& peer) { peers_.insert_or_assign(std::string(as_text(address)), &peer); }
  // Removes a peer. Does nothing if another peer has this address.
  void remove(Bytes address, const Peer& peer) {
    const auto found = peers_.find(as_text(address));
    if (found != peers_.end() && found->second == &peer) peers_.erase(found);
  }
  std::size_t size() const { return peers_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view address) const { return keyed_hash(key, as_bytes(address)); }
    HashKey key;
  };

  std::unordered_map<std::string, Peer*, Hash, std::equal_to<>> peers_;
};

}  // namespace joust
