// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>

#include "joust/bytes.hpp"

// The datagrams of message connections, as they stand on the wire, big endian:
//
//   2  "J1"                      8  token of the connection, chosen by the client; or of a group
//   1  kind                      8  number, see below
//   1  flags                     2  size of the payload
//   4  check of all the rest     payload
//
// The check finds what was damaged on the way, also where no checksum of UDP looks. It keeps no enemy out:
// the token does.
namespace joust {

enum class DatagramKind : std::uint8_t {
  join = 1,   // of a client; the number is the cookie, 0 at first; padded
  challenge,  // of a server; the number is the cookie to be sent back
  joined,     // of a server; the number is its idle limit in milliseconds. With a group, its place follows
  data,       // the number counts these, from 0 in each direction
  leave,      // the sender has finished; the number is how many of data it has sent
  left,       // the answer, likewise; with `unknown` it is that of a server that knows no such connection.
              // Both of a server with a group: its count follows
};

struct DatagramHead {
  static constexpr std::size_t kBytes = 26;

  DatagramKind kind{};
  bool packed = false;      // data: several messages, each after its size of 2 bytes
  bool keep_alive = false;  // join: of a connection that there is; makes no other
  bool unknown = false;     // left
  bool group = false;       // challenge: the server sends to a group too, which the client is to hear
  std::uint64_t token = 0;
  std::uint64_t number = 0;
};

struct Datagram {
  DatagramHead head;
  Bytes payload;  // borrowed
};

// Of UDP over IPv4, with a header of 8 bytes in a packet of at most 65,535.
inline constexpr std::size_t kLargestDatagram = 65'507;
// Fits into a packet of Ethernet, with the headers of IPv6 and UDP and some tunnel's.
inline constexpr std::size_t kPlainDatagram = 1'400;
// A join is padded to this, so that whatever answers it is shorter.
inline constexpr std::size_t kJoinBytes = 64;

// What signals say of a group: its token and the number of its next datagram, or that number alone.
inline constexpr std::size_t kGroupPlaceBytes = 16, kGroupCountBytes = 8;

// A datagram to be sent: `head` and then `tail`. Short messages are copied behind the header, long ones stay
// where they are.
struct DatagramOut {
  std::array<std::byte, kPlainDatagram> head;  // uninitialized
  std::size_t head_size = 0;
  Bytes tail{};

  std::size_t size() const { return head_size + tail.size(); }
  Bytes front() const { return {head.data(), head_size}; }
};

// Writes the header in front of `payload`, which stands in out.head behind the header's place, or elsewhere.
void write_datagram(const DatagramHead& head, Bytes payload, DatagramOut& out);
// One without messages, padded where the kind demands it. `payload`: what it says of a group.
void write_signal(const DatagramHead& head, DatagramOut& out, Bytes payload = {});

// Why bytes are no datagram: of something else, or incomplete, or damaged.
enum class NoDatagram : std::uint8_t { foreign, truncated };
std::expected<Datagram, NoDatagram> parse_datagram(Bytes bytes);

// The messages of a datagram's payload: the next one is taken off its beginning. Nothing at the end, and
// where the rest is malformed.
inline constexpr std::size_t kPackedSizeBytes = 2;
std::optional<Bytes> take_message(const DatagramHead& head, Bytes& payload);

// Whether the payload is what the kind demands: of data, at least one message, none of them empty, and the
// last one ends with it; of signals, their padding or what they say of a group.
bool is_well_formed(const Datagram& datagram);

}  // namespace joust
