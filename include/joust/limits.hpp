// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "joust/time.hpp"

namespace joust {

// The limits on the resources that an engine takes for its peers.
struct Limits {
  // The connections open at once. At the limit, a newcomer from another address ends connections of the
  // address that has most. A newcomer from that address itself ends only idle connections of it; if it has no
  // idle ones, the newcomer is closed. In engines of processes, of ZeroMQ and of clients, further peers wait.
  std::size_t connections = 16'000;
  // The bytes that a server may take beyond those that its process has at the start; above the limit
  // connections are ended. Nothing: a quarter of the memory available at the start, and at least 64 MiB.
  std::optional<std::uint64_t> memory{};
  std::size_t read_bytes = 64 << 10;            // one read
  std::size_t read_bytes_per_turn = 256 << 10;  // from one peer, before other peers get their turn
  std::size_t file_ring_bytes = 256 << 10;     // size of a buffer between a socket and a file (Filling::ring)
  unsigned accepts_per_turn = 64;              // more with thousands of busy peers
  unsigned dials_at_once = 256;                // connects in progress
  Duration resolve = std::chrono::seconds(5);  // lookup of a name, once, before the first connect
  Duration connect = std::chrono::seconds(10);
  Duration idle = std::chrono::seconds(60);   // without a byte in either direction
  Duration linger = std::chrono::seconds(1);  // from our shutdown of a connection to the peer's end of stream
  Duration drain = std::chrono::seconds(2);   // for open connections after a stop
  Duration accept_pause = std::chrono::milliseconds(50);  // when the machine runs short of a resource
};

}  // namespace joust
