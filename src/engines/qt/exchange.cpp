// SPDX-License-Identifier: MIT
//
// The slots of QtLoop that serve a peer.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/check.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/qt/errors.hpp"
#include "engines/qt/loop.hpp"

namespace joust {
namespace {

constexpr unsigned kWritesPerTurn = 16;
constexpr std::size_t kMostPieces = 16;
constexpr std::size_t kMostWritten = 256 << 10;  // bytes of a write: Qt copies what the socket does not take

}  // namespace

void QtLoop::connect(QtPeer& peer) {
  const Endpoint& to = endpoint_of(peer);
  const int result = ::connect(peer.socket.get(), to.raw(), to.size);
  if (result == 0 || errno != EINPROGRESS) return finish_dial(peer, result == 0 ? 0 : errno);
  peer.connecting = std::make_unique<QSocketNotifier>(peer.socket.get(), QSocketNotifier::Write);
  QObject::connect(peer.connecting.get(), &QSocketNotifier::activated, &context_, [this, &peer] {
    peer.connecting->setEnabled(false);
    on_event([&] { guarded(peer, [&] { finish_dial(peer, connect_result(peer.socket.get())); }); });
  });
}

void QtLoop::attach(QtPeer& peer) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  ::getsockname(peer.socket.get(), reinterpret_cast<sockaddr*>(&own), &size);
  peer.is_tcp = own.ss_family != AF_UNIX;
  auto stream = std::make_unique<QtStream>();
  // Unbuffered, because a device that buffers reads on after bytes of its buffer: it could read the end of
  // the stream, and close the socket without a signal (see has_input()).
  if (!stream->setSocketDescriptor(peer.socket.get(), QAbstractSocket::ConnectedState,
                                   QIODevice::ReadWrite | QIODevice::Unbuffered))
    throw std::system_error(errno_of(stream->error()), std::generic_category(), "QAbstractSocket");
  peer.stream = std::move(stream);
  const auto on = [this, &peer](auto&& step) {
    on_event([&] {
      found_work();
      if (peer.live()) guarded(peer, step);
      attend(peer);
    });
  };
  QObject::connect(peer.stream.get(), &QIODevice::readyRead, &context_,
                   [on, &peer] { on([&] { peer.readable = true; }); });
  QObject::connect(peer.stream.get(), &QIODevice::bytesWritten, &context_, [this, on, &peer](qint64 n) {
    if (!peer.writing) on([&] { on_written(peer, static_cast<std::size_t>(n)); });
  });
  QObject::connect(peer.stream.get(), &QAbstractSocket::errorOccurred, &context_, [this, on, &peer] {
    if (!peer.writing) on([&] { on_error(peer); });
  });
}

void QtLoop::serve(QtPeer& peer) {
  if (!peer.stream) attach(peer);
  if (!peer.readable || !peer.connection->wants_input()) flush(peer);
  receive(peer);
  if (!peer.connection->ended()) watch_for_reset(peer);
}

void QtLoop::receive(QtPeer& peer) {
  StreamConnection& connection = *peer.connection;
  const std::uint64_t quota = connection.bytes_received() + hosting().limits.read_bytes_per_turn;
  while (peer.readable && connection.wants_input()) {
    if (connection.bytes_received() >= quota) return unfinished_.push(peer);
    if (connection.store()) note_plain_files();
    if (!has_input(peer)) return;
    const std::size_t most = hosting().limits.read_bytes;
    const qint64 n = peer.stream->read(reinterpret_cast<char*>(buffer_.get()), static_cast<qint64>(most));
    if (n < 0) return connection.failed({Stage::receive, errno_of(peer.stream->error()), {}}, now());
    if (static_cast<std::size_t>(n) < most) peer.readable = false;
    if (n > 0) connection.received({buffer_.get(), static_cast<std::size_t>(n)}, now());
    flush(peer);
  }
}

void QtLoop::note_plain_files() {
  if (!std::exchange(files_noted_, true))
    hosting().tally.note("Qt has no sendfile and no splice: files are copied through user space");
}

// Returns false if there is no byte to read, and handles the reason: none has come yet, or the stream ends
// here, or it fails. A socket of Qt that reads the end of the stream closes itself, and its peer would lose
// replies: so the end is looked for, and never read. bytesAvailable() alone does not tell: it is 0 in front
// of an urgent byte too.
bool QtLoop::has_input(QtPeer& peer) {
  if (peer.stream->bytesAvailable() > 0) return true;
  char next = 0;
  const ssize_t n = ::recv(peer.socket.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n > 0) return true;
  peer.readable = false;
  if (n < 0 && errno == EAGAIN) {
    peer.stream->await_more();
    return false;
  }
  if (n == 0)
    peer.connection->peer_finished(now());
  else
    peer.connection->failed({Stage::receive, errno, {}}, now());
  flush(peer);
  return false;
}

void QtLoop::flush(QtPeer& peer) {
  if (is_batching()) return;
  StreamConnection& connection = *peer.connection;
  for (unsigned writes = 0; peer.stream->bytesToWrite() == 0 && connection.has_output();) {
    if (++writes > kWritesPerTurn) return unfinished_.push(peer);
    write(peer);
  }
  if (connection.wants_shutdown()) end_stream(peer.socket.get(), connection, now());
}

// Passes output to Qt. Qt keeps the bytes for which the socket has no room in a buffer, and bytesWritten()
// acknowledges them. Until then nothing more is written. That and kMostWritten bound the buffer, because a
// session may show any number of bytes.
void QtLoop::write(QtPeer& peer) {
  if (peer.connection->source()) note_plain_files();
  std::array<iovec, kMostPieces> pieces;
  const std::size_t count = peer.connection->output(pieces, now());
  std::size_t written = 0;
  peer.writing = true;
  for (const iovec& piece : std::span(pieces).first(count)) {
    const std::size_t most = std::min(piece.iov_len, kMostWritten - written);
    if (most == 0 || peer.stream->bytesToWrite() > 0) break;
    errno = 0;
    const qint64 n = peer.stream->write(static_cast<const char*>(piece.iov_base), static_cast<qint64>(most));
    if (n < 0) {
      peer.writing = false;
      return on_error(peer);
    }
    written += static_cast<std::size_t>(n);
    if (most < piece.iov_len) break;
  }
  peer.writing = false;
  peer.connection->sent(written - static_cast<std::size_t>(peer.stream->bytesToWrite()), now());
}

void QtLoop::on_written(QtPeer& peer, std::size_t n) {
  peer.connection->sent(n, now());
}

// Handles the error of a write, which Qt may have made by itself. Where the peer has gone, Qt has closed the
// socket: bytes that had come from the peer before cannot be read any more.
void QtLoop::on_error(QtPeer& peer) {
  const int error = errno_of(peer.stream->error());
  if (error == EFAULT) return peer.connection->send_failed(error, now());
  peer.connection->failed({Stage::send, error, {}}, now());
}

// While nothing is wanted from the peer, no read would report its reset. Unix sockets have no reset, and GLib
// would spin: it polls for exceptions, and Qt ignores the hang-up that poll(2) reports in their place.
void QtLoop::watch_for_reset(QtPeer& peer) {
  const bool watched = peer.is_tcp && !peer.connection->wants_input() && !peer.has_hung_up;
  if (!peer.exception && watched) {
    peer.exception = std::make_unique<QSocketNotifier>(peer.socket.get(), QSocketNotifier::Exception);
    QObject::connect(peer.exception.get(), &QSocketNotifier::activated, &context_, [this, &peer] {
      peer.has_hung_up = true;  // it would be reported again and again
      peer.exception->setEnabled(false);
      on_event([&] { look_for_reset(peer); });
    });
  }
  if (peer.exception && peer.exception->isEnabled() != watched) peer.exception->setEnabled(watched);
}

void QtLoop::look_for_reset(QtPeer& peer) {
  if (!peer.live()) return;
  guarded(peer, [&] {
    const int error = connect_result(peer.socket.get());
    if (error != 0) peer.connection->failed({Stage::receive, error, {}}, now());
  });
  attend(peer);
}

}  // namespace joust
