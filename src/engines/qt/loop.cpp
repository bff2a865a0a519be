// SPDX-License-Identifier: MIT
//
// A loop on Qt: how its sockets begin and end, and its iteration with deadlines, publications and the stop.
// qt.cpp has the slots of the sockets.
#include "engines/qt/loop.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <QAbstractEventDispatcher>
#include <QThread>
#include <algorithm>
#include <cerrno>

#include "base/check.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {
namespace {

[[noreturn]] void refused(const QString& why) {
  throw std::system_error(EIO, std::generic_category(), "setSocketDescriptor(): " + why.toStdString());
}

}  // namespace

template class LoopCore<QtPeer>;

QtLoop::QtLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore(hosting, stop, group, index),
      stop_notifier_(stop.fd(), QSocketNotifier::Read),
      inbox_notifier_(inbox().waker().fd(), QSocketNotifier::Read),
      most_read_(static_cast<qint64>(hosting.limits.read_bytes)),
      buffer_(std::make_unique_for_overwrite<char[]>(hosting.limits.read_bytes)) {
  timer_.setSingleShot(true);
  timer_.setTimerType(Qt::PreciseTimer);
  timer_.callOnTimeout(&context_, [this] { on_event([this] { armed_.reset(); }); });
  QObject::connect(&stop_notifier_, &QSocketNotifier::activated, &context_, [this] {
    stop_notifier_.setEnabled(false);  // it stays readable
    on_event([this] { request_stop(); });
  });
  QObject::connect(&inbox_notifier_, &QSocketNotifier::activated, &context_,
                   [this] { on_event([this] { take_news(); }); });
  QObject::connect(QAbstractEventDispatcher::instance(), &QAbstractEventDispatcher::aboutToBlock, &context_,
                   [this] { on_event([this] { finish_iteration(); }); });
  listen();
}

QtLoop::~QtLoop() = default;

void QtLoop::run() {
  on_event([this] { finish_iteration(); });
  if (!over() && !error_) events_.exec();
  if (error_) std::rethrow_exception(error_);
}

void QtLoop::take_over(std::unique_ptr<QTcpSocket> socket) {
  socket->moveToThread(QThread::currentThread());
  on_event([&] { admit_newcomer(std::move(socket)); });
}

// Sockets.

QtServer::QtServer(const Listener& copied) : listener(copied) {
  setMaxPendingConnections(1);
  Fd copy(checked(::fcntl(copied.fd(), F_DUPFD_CLOEXEC, 0), "fcntl(F_DUPFD_CLOEXEC)"));
  if (!setSocketDescriptor(copy.get())) refused(errorString());
  static_cast<void>(copy.release());
}

// Connects without Qt: the target's sockets have their options before the connect, and a QTcpSocket sets them
// after it.
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

// Passes the peer's descriptor to Qt, if the peer was not accepted by Qt.
void QtLoop::adopt(QtPeer& peer) {
  if (peer.stream) return;
  auto stream = std::make_unique<QTcpSocket>();
  if (!stream->setSocketDescriptor(peer.socket.get())) refused(stream->errorString());
  static_cast<void>(peer.socket.release());
  peer.stream = std::move(stream);
}

void open_session(const Hosting& hosting, QtPeer& peer, Time now) {
  open_session(hosting, static_cast<int>(peer.stream->socketDescriptor()), peer.connection, now);
}

bool QtLoop::let_go(QtPeer& peer) {
  if (peer.stream) peer.stream->disconnect();  // a socket that is destroyed emits signals
  return true;
}

void QtLoop::note_plain_files() {
  if (!std::exchange(files_noted_, true))
    hosting().tally.note("Qt has no sendfile and no splice: files are copied through user space");
}

// The iteration.

// Called when the event loop is about to sleep.
void QtLoop::finish_iteration() {
  fire_deadlines();
  pass_publications();
  if (is_stopping() && !draining()) begin_stop();
  sweep();
  start_dials(SOCK_NONBLOCK);
  quota_.reset();
  for (const auto& server : servers_) accept_from(*server);
  set_timer();
  in_iteration_ = false;
  if (over()) events_.quit();
}

// A QTimer counts in milliseconds. In an open loop the event loop spins for the rest.
void QtLoop::set_timer() {
  const Duration wait = next_wait();
  if (wait >= WaitStrategy::kForever) {
    armed_.reset();
    return timer_.stop();
  }
  const Time until = now() + wait;
  if (armed_ == until && timer_.isActive()) return;
  armed_ = until;
  const Duration rest = wait == Duration::zero() ? wait : std::max(Duration::zero(), until - Clock::now());
  timer_.start(hosting().options.paced ? std::chrono::floor<std::chrono::milliseconds>(rest)
                                       : std::chrono::ceil<std::chrono::milliseconds>(rest));
}

// Serves the peers that have connected before the stop, and then passes the stop to all sessions.
void QtLoop::begin_stop() {
  for (const auto& server : servers_) {
    if (!server->hasPendingConnections()) continue;
    if (full() || shortage())
      hosting().tally.note(kLeftInQueue);
    else
      take_pending(*server);
  }
  servers_.clear();
  end_accepting(SOCK_NONBLOCK);
  if (may_drain()) begin_drain();
}

}  // namespace joust
