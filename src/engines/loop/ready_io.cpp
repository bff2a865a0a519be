// SPDX-License-Identifier: MIT
#include "engines/loop/ready_io.hpp"

#include <sys/ioctl.h>

#include <array>
#include <cerrno>

#include "base/check.hpp"
#include "base/system/sockets.hpp"
#include "engines/files/file_io.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostPieces = 16;
constexpr unsigned kSendsPerTurn = 16;

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

ssize_t send_pieces(int socket, std::span<iovec> pieces) {
  // send() for a single piece: the kernel then has no message header to copy and check.
  if (pieces.size() == 1)
    return ::send(socket, pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
  const msghdr message = message_of(pieces);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

msghdr message_of(std::span<iovec> pieces) {
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(pieces.size());
  return message;
}

bool receive_ready(int socket, StreamConnection& connection, std::span<std::byte> buffer, bool end_is_near,
                   Time now) {
  const ssize_t n =
      retry_interrupted([&] { return ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT); });
  if (n > 0) {
    connection.received(buffer.first(static_cast<std::size_t>(n)), now);
    return end_is_near || static_cast<std::size_t>(n) == buffer.size();
  }
  if (n == 0)
    connection.peer_finished(now);
  else if (!would_block(errno))
    connection.failed({Stage::receive, errno, {}}, now);
  return false;
}

bool send_ready(int socket, StreamConnection& connection, Time now) {
  if (const auto source = connection.source())
    if (const auto done = send_file(socket, connection, *source, now)) return *done;
  return send_copied(socket, connection, now);
}

bool send_copied(int socket, StreamConnection& connection, Time now) {
  std::array<iovec, kMostPieces> pieces;
  const std::size_t count = connection.output(pieces, now);
  if (count == 0) return true;  // reading a file has failed, and no other output exists
  const ssize_t n = retry_interrupted([&] { return send_pieces(socket, std::span(pieces).first(count)); });
  if (n < 0) {
    if (would_block(errno)) return false;
    connection.send_failed(errno, now);
    return true;
  }
  connection.sent(static_cast<std::size_t>(n), now);
  return true;  // a short count does not mean a full socket: a mapped file may have shrunk
}

void send_a_turn(int socket, StreamConnection& connection, Time now) {
  for (unsigned sends = 0; sends < kSendsPerTurn && connection.has_output(); ++sends)
    if (!send_ready(socket, connection, now)) break;
  if (connection.wants_shutdown()) end_stream(socket, connection, now);
}

void end_stream(int socket, StreamConnection& connection, Time now) {
  // ENOTCONN: the peer has reset the connection; the next read reports that.
  ::shutdown(socket, SHUT_WR);
  connection.shut_down(now);
}

int connect_result(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  checked(::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size), "getsockopt(SO_ERROR)");
  return error;
}

std::size_t unread_bytes(int socket) {
  int bytes = 0;
  checked(::ioctl(socket, FIONREAD, &bytes), "ioctl(FIONREAD)");
  return static_cast<std::size_t>(bytes);
}

}  // namespace joust
