// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "joust/framing.hpp"
#include "joust/time.hpp"
#include "net/address.hpp"

namespace joust::conformance {

// Longer than any step takes on a busy machine; a longer wait is a failure. Tests of engines with known
// faults set the environment variable JOUST_PATIENCE_MS to less.
extern const Duration kPatience;

// The next event of a stream.
enum class Next : std::uint8_t { data, end, reset };

// The other end of a connection, on a plain blocking socket: it does only what a test tells it to. Any call
// that takes longer than kPatience throws.
class Peer {
 public:
  explicit Peer(const Endpoint& to, int buffers = 0);  // bytes of SO_SNDBUF and SO_RCVBUF; 0: the kernel's
  explicit Peer(Fd connected);

  void send(std::string_view bytes);
  bool try_send(std::string_view bytes);  // false: the connection is closed
  // Sends without blocking until the socket has been full for a while, or until about `most` bytes are sent.
  // Returns the number of bytes sent.
  std::size_t send_until_full(std::string_view again_and_again, std::size_t most = 1 << 30);
  // Returns when the other side has read all bytes. Unix sockets only: TCP acknowledges bytes before they are
  // read.
  void send_and_see_read(std::string_view bytes);

  std::string receive(std::size_t size);  // exactly `size` bytes
  std::string receive_some(std::size_t most);
  std::string receive_to_end();  // throws after a reset
  Next next();                   // the next event, without consuming it
  bool hears_within(Duration time) const;

  void finish();  // sends our end of stream
  void close() { socket_.close(); }
  void reset();  // closes with a reset, which discards unread bytes
  int fd() const { return socket_.get(); }

 private:
  Fd socket_;
};

// Starts a non-blocking connect to `to`.
Fd begin_connect(const Endpoint& to);

inline constexpr std::size_t kMebi = 1 << 20;

// `size` letters without short repetitions, so that lost, repeated or misplaced bytes are detected.
std::string pattern(std::size_t size, unsigned seed = 1);

// `text` as one message of that framing.
std::string framed(const Framing& framing, std::string_view text);

Endpoint endpoint_of(std::string_view address);

}  // namespace joust::conformance
