// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "joust/time.hpp"

namespace joust {

// The limits on the resources that an engine takes for its peers.
struct Limits {
  // Open at once. Beyond it, connections of the address that has most are ended where another address comes,
  // and idle ones of the same address; nothing idle, and the newcomer is closed. Further peers of engines of
  // processes, of ZeroMQ and of clients wait.
  std::size_t connections = 16'000;
  // Bytes that a server may take beyond what its process has at the start; above it connections are ended.
  // Nothing: a quarter of what is available then, and at least 64 MiB.
  std::optional<std::uint64_t> memory{};
  std::size_t read_bytes = 64 << 10;            // one read
  std::size_t read_bytes_per_turn = 256 << 10;  // from one peer, before others get their turn
  std::size_t file_ring_bytes = 256 << 10;      // of a buffer between a socket and a file (Filling::ring)
  unsigned accepts_per_turn = 64;               // more with thousands of busy peers
  unsigned dials_at_once = 256;                 // connects in progress
  Duration resolve = std::chrono::seconds(5);   // looking up a name, once, before the first connect
  Duration connect = std::chrono::seconds(10);
  Duration idle = std::chrono::seconds(60);   // without a byte in either direction
  Duration linger = std::chrono::seconds(1);  // from our shutdown of a connection to the peer's end of stream
  Duration drain = std::chrono::seconds(2);   // for open connections after a stop
  Duration accept_pause = std::chrono::milliseconds(50);  // when descriptors or memory have run out
};

}  // namespace joust
