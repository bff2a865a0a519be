// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>

#include "joust/bytes.hpp"

// The format of the datagrams of message connections, big endian:
//
//   2  "J1"                      8  token of the connection, chosen by the client; or of a group
//   1  kind                      8  number, see below
//   1  flags                     2  size of the payload
//   4  check of all the rest     payload
//
// The check detects damage on the way, also where UDP has no checksum. It does not protect against an
// attacker: the token does.
namespace joust {

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

}  // namespace joust
