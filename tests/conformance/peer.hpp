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

// Longer than anything here takes on a busy machine; who waits longer has found a fault. Tests of engines
// that are known to be faulty set the environment variable JOUST_PATIENCE_MS to less.
extern const Duration kPatience;

// How a stream goes on.
enum class Next : std::uint8_t { data, end, reset };

// The other end of a connection, written by hand on a plain blocking socket: it does what a test says and
// nothing else. Whatever takes longer than kPatience throws.
class Peer {
 public:
  explicit Peer(const Endpoint& to, int buffers = 0);  // bytes of SO_SNDBUF and SO_RCVBUF; 0: the kernel's
  explicit Peer(Fd connected);

  void send(std::string_view bytes);
  bool try_send(std::string_view bytes);  // false: the connection is gone
  // Sends without ever waiting until there has been no room for a while: the other side takes no more. Or
  // until it has taken `most`, or a little more. Returns how many bytes it took.
  std::size_t send_until_full(std::string_view again_and_again, std::size_t most = 1 << 30);
  // Returns when the other side has read all that was sent. Unix sockets only: TCP acknowledges without it.
  void send_and_see_read(std::string_view bytes);

  std::string receive(std::size_t size);  // exactly
  std::string receive_some(std::size_t most);
  std::string receive_to_end();  // throws if that is a reset
  Next next();                   // what comes next, without taking it
  bool hears_within(Duration time) const;

  void finish();  // the other side reads our end
  void close() { socket_.close(); }
  void reset();  // closes in a way that takes back what was sent
  int fd() const { return socket_.get(); }

 private:
  Fd socket_;
};

// A socket on its way to `to`, without waiting for it to stand.
Fd begin_connect(const Endpoint& to);

// `size` letters that do not repeat soon, so that a byte lost or twice or in the wrong place shows.
std::string pattern(std::size_t size, unsigned seed = 1);

// `text` as one message of that framing.
std::string framed(const Framing& framing, std::string_view text);

Endpoint endpoint_of(std::string_view address);

}  // namespace joust::conformance
