// SPDX-License-Identifier: MIT
#include "hostile/wire.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "base/check.hpp"

namespace joust::hostile {
namespace {

// EOPNOTSUPP: unix sockets do not always have bytes out of band.
bool is_passing(int error) {
  return error == EAGAIN || error == EINTR || error == EOPNOTSUPP;
}

}  // namespace

std::size_t Wire::send(std::string_view bytes, int flags) {
  if (bytes.empty() || gone_) return 0;
  const ssize_t n = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT | flags);
  if (n < 0 && !is_passing(errno)) gone_ = true;
  if (n <= 0) return 0;
  sent_ += static_cast<std::uint64_t>(n);
  return static_cast<std::size_t>(n);
}

std::string Wire::receive(std::size_t most) {
  std::string bytes(most, '\0');
  const ssize_t n = ::recv(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n == 0) ended_ = true;
  if (n < 0 && !is_passing(errno)) gone_ = true;
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

void Wire::finish() {
  ::shutdown(fd(), SHUT_WR);  // ENOTCONN where the other side has reset the connection
}

void Wire::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  checked(::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), "setsockopt(SO_LINGER)");
  socket_.close();
}

}  // namespace joust::hostile
