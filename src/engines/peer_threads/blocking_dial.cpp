// SPDX-License-Identifier: MIT
#include "engines/peer_threads/blocking_dial.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/check.hpp"
#include "connection/tally.hpp"
#include "net/socket_options.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

// Returns true if connect is to be called again. A connect that was interrupted, or timed out a little early,
// then continues. On a unix socket it starts again, and waits for room in the accept queue.
bool goes_on(int error, int family) {
  return error == EINTR || error == EINPROGRESS || error == EALREADY || is_full_backlog(error, family);
}

// Returns 0 or the errno. On Linux the send timeout applies to connect too.
int connect_to(int socket, const Endpoint& endpoint, Time give_up, const PeerThreads& peer_threads) {
  while (!peer_threads.draining()) {
    const Duration left = give_up - Clock::now();
    if (left <= Duration::zero()) return ETIMEDOUT;
    set_timeout(socket, SO_SNDTIMEO, left);
    if (::connect(socket, endpoint.raw(), endpoint.size) == 0) return 0;
    if (!goes_on(errno, endpoint.family())) return errno;
  }
  return ECANCELED;
}

}  // namespace

Fd dial_blocking(const Hosting& hosting, const PeerThreads& peer_threads, Time until) {
  const Target& target = *hosting.target;
  Failure failure;
  Fd connected;
  for (std::size_t i = 0; i < target.endpoints() && !connected.is_open(); ++i) {
    try {
      Fd socket = target.make_socket(i, 0);
      const Time give_up = std::min(Clock::now() + hosting.limits.connect, until);
      const int error = connect_to(socket.get(), target.endpoint(i), give_up, peer_threads);
      failure = target.connect_failure(i, error);
      if (error == 0) connected = std::move(socket);
    } catch (const std::system_error& error) {
      failure = {Stage::connect, error.code().value(), target.name()};
    }
  }
  if (peer_threads.draining()) return {};
  if (connected.is_open()) {
    target.note_facts(connected.get());
  } else {
    hosting.not_opened(failure, Clock::now());
  }
  return connected;
}

}  // namespace joust
