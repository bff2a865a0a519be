// SPDX-License-Identifier: MIT
// Needs qt: Qt 6.4 or newer (Core, Network) not found at build time: script/setup qt && script/build
//
// qt: one event loop of Qt; sockets report by signals, and slots serve them.
//
//     QTcpServer::newConnection --> nextPendingConnection
//     QEventLoop::exec --> readyRead, bytesWritten, disconnected --> read --> session --> write, flush
//          ^                                                                                     |
//          +---- aboutToBlock:  deadlines <---- publications <---- the stop <--------------------+
//
// Good at: programs that have a Qt event loop anyway; few connections. Bad at: thousands of connections,
// because Qt waits by poll(2), whose cost depends on the number of open sockets. Each byte is copied twice,
// into Qt's buffer and out of it, and a timer counts in milliseconds. A QTcpSocket closes at the end of its
// peer's stream, and so loses replies that it has not sent; it cannot tell that end from a reset. A
// QTcpServer spins when descriptors run out. The descriptor says so. qt/loop.cpp has the iteration.
#include <QSignalBlocker>
#include <algorithm>
#include <array>
#include <cerrno>

#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/qt/application.hpp"
#include "engines/qt/loop.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostPieces = 16;
constexpr qint64 kMostWritten = 256 << 10;  // bytes in Qt's write buffer: a session may show any number

bool is_connected(const QtPeer& peer) {
  return peer.stream->state() == QTcpSocket::ConnectedState;
}

}  // namespace

// Accepting.

void QtLoop::listen() {
  for (const Listener* listener : listeners()) {
    QtServer& server = *servers_.emplace_back(std::make_unique<QtServer>(*listener));
    QObject::connect(&server, &QTcpServer::newConnection, &context_,
                     [this, &server] { on_event([&] { accept_from(server); }); });
    QObject::connect(&server, &QTcpServer::acceptError, &context_, [this, &server] {
      on_event([&] {
        server.is_paused = true;  // by itself, for instance without a descriptor
        pause_accepting(Lack::resource);
      });
    });
  }
}

void QtLoop::accept_from(QtServer& server) {
  while (server.hasPendingConnections() && !accepting_paused()) {
    if (!quota_) quota_ = accept_quota();
    if (*quota_ == 0) return;  // goes on in the next iteration
    if (full()) return pause_accepting(Lack::place);
    if (shortage()) return pause_accepting(Lack::resource);
    --*quota_;
    take_pending(server);
  }
  if (!accepting_paused() && std::exchange(server.is_paused, false)) server.resumeAccepting();
}

void QtLoop::take_pending(QtServer& server) {
  std::unique_ptr<QTcpSocket> socket(server.nextPendingConnection());
  socket->setParent(nullptr);
  server.listener.note_facts(static_cast<int>(socket->socketDescriptor()));
  admit_newcomer(std::move(socket));
}

// The sockets.

// Qt reads ahead into a buffer of this size, and stops while it is full.
void QtLoop::attach(QtPeer& peer) {
  adopt(peer);
  QTcpSocket* const stream = peer.stream.get();
  stream->setReadBufferSize(most_read_);
  const auto attend_to = [this, &peer] {
    on_event([&] {
      found_work();
      attend(peer);
    });
  };
  QObject::connect(stream, &QTcpSocket::readyRead, &context_, attend_to);
  QObject::connect(stream, &QTcpSocket::disconnected, &context_, attend_to);
  QObject::connect(stream, &QTcpSocket::bytesWritten, &context_, attend_to);
}

void QtLoop::tell(QtPeer& peer, News news) {
  if (news == News::established) attach(peer);
  if (news == News::stop) peer.stream->waitForReadyRead(0);  // requests that have arrived are answered
  LoopCore::tell(peer, news);
}

void QtLoop::serve(QtPeer& peer) {
  do {
    receive(peer);
    if (!is_connected(peer)) return finish_closed(peer);
    send(peer);  // a flush may fail, and the session may want input again
  } while (!is_connected(peer) || (peer.connection->wants_input() && peer.stream->bytesAvailable() > 0));
}

// Reads the bytes that are in Qt's buffer, also when Qt has closed the socket.
void QtLoop::receive(QtPeer& peer) {
  StreamConnection& connection = *peer.connection;
  while (connection.wants_input()) {
    if (connection.store()) note_plain_files();
    const qint64 n = peer.stream->isOpen() ? peer.stream->read(buffer_.get(), most_read_) : 0;
    if (n > 0)
      connection.received(std::as_bytes(std::span(buffer_.get(), static_cast<std::size_t>(n))), now());
    if (n > 0 && (n == most_read_ || !is_connected(peer))) continue;
    if (!is_connected(peer)) connection.peer_finished(now());
    return;
  }
}

// Passes output to Qt while Qt's buffer is empty. flush() sends it now, and not in the next iteration: by
// then the socket may have read the end of the stream, and closed itself. If there is more output, Qt sends
// that in the next iteration, when other peers have had their turn, and emits bytesWritten().
void QtLoop::send(QtPeer& peer) {
  StreamConnection& connection = *peer.connection;
  if (peer.unsent > 0) acknowledge(peer);
  if (is_batching()) return;
  if (peer.unsent == 0 && write(peer)) {
    const QSignalBlocker blocker(peer.stream.get());  // the result is looked at here
    peer.stream->flush();
    acknowledge(peer);
    if (peer.unsent == 0) write(peer);
  }
  if (connection.wants_shutdown())
    end_stream(static_cast<int>(peer.stream->socketDescriptor()), connection, now());
}

// Returns false if there is no output.
bool QtLoop::write(QtPeer& peer) {
  if (peer.connection->source()) note_plain_files();
  std::array<iovec, kMostPieces> pieces;
  const std::size_t count = peer.connection->output(pieces, now());
  for (const iovec& piece : std::span(pieces).first(count)) {
    const qint64 most = std::min(static_cast<qint64>(piece.iov_len), kMostWritten - peer.unsent);
    peer.unsent += peer.stream->write(static_cast<const char*>(piece.iov_base), most);
  }
  return count > 0;
}

// Reports the bytes that have left Qt's buffer. After a failed flush, Qt has discarded them.
void QtLoop::acknowledge(QtPeer& peer) {
  if (!is_connected(peer)) return;
  const qint64 left = peer.stream->bytesToWrite();
  const qint64 sent = std::exchange(peer.unsent, left) - left;
  if (sent > 0) peer.connection->sent(static_cast<std::size_t>(sent), now());
}

// Qt has closed the socket, at the end of the peer's stream or after an error.
void QtLoop::finish_closed(QtPeer& peer) {
  StreamConnection& connection = *peer.connection;
  if (connection.has_output() || connection.is_broken_off())
    return connection.failed({Stage::send, EPIPE, "Qt closes a socket at the end of its peer's stream"},
                             now());
  if (!connection.wants_shutdown()) return;
  connection.shut_down(now());
  receive(peer);
}

// modules.cpp has the descriptor.
extern "C" void joust_run_qt(const Hosting& hosting, Stop& stop) {
  const QtApplication application(hosting.tally);
  run_in_qthread([&] { run_loops<QtLoop>(hosting, stop); });
}

}  // namespace joust
