// SPDX-License-Identifier: MIT
#include "engines/qt/loop.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <QAbstractEventDispatcher>
#include <array>
#include <cerrno>
#include <utility>

#include "base/check.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/qt/errors.hpp"

namespace joust {

template class LoopCore<QtPeer>;

QtLoop::QtLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore(hosting, stop, group, index),
      stop_notifier_(stop.fd(), QSocketNotifier::Read),
      inbox_notifier_(inbox().waker().fd(), QSocketNotifier::Read),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(hosting.limits.read_bytes)) {
  timer_.setSingleShot(true);
  timer_.setTimerType(Qt::PreciseTimer);
  timer_.callOnTimeout(&context_, [this] { on_event([this] { armed_.reset(); }); });
  QObject::connect(&stop_notifier_, &QSocketNotifier::activated, &context_,
                   [this] { on_event([this] { request_stop(); }); });
  QObject::connect(&inbox_notifier_, &QSocketNotifier::activated, &context_,
                   [this] { on_event([this] { admit_dealt(); }); });
  QObject::connect(QAbstractEventDispatcher::instance(), &QAbstractEventDispatcher::aboutToBlock, &context_,
                   [this] { on_event([this] { finish_turn(); }); });
  listen();
}

QtLoop::~QtLoop() = default;

void QtLoop::run() {
  on_event([this] { finish_turn(); });
  if (!is_over() && !error_) events_.exec();
  if (error_) std::rethrow_exception(error_);
}

// Called when the event loop is about to sleep.
void QtLoop::finish_turn() {
  fire_deadlines();
  pass_publications();
  if (stopping_) stop_by_and_by();
  sweep();
  if (!awaiting_) start_dials(SOCK_NONBLOCK);
  if (dialled_) report_dial();
  watch_listeners();
  if (!unfinished_.empty()) post_resume();
  set_timer();
  in_turn_ = false;
  if (is_over()) events_.quit();
}

// A timer of QTimer counts in milliseconds. In an open loop the event loop spins for the rest.
void QtLoop::set_timer() {
  const Duration wait = awaiting_ ? WaitStrategy::kForever : next_wait();
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

// Posts the resumption, so that sockets have their turn first: a timer of 0 ms would wait until no socket is
// ready.
void QtLoop::post_resume() {
  if (std::exchange(resume_posted_, true)) return;
  const auto go_on = [this] {
    resume_posted_ = false;
    on_event([this] { resume(unfinished_); });
  };
  QMetaObject::invokeMethod(&context_, go_on, Qt::QueuedConnection);
}

// Accepting. QTcpServer is not used: once an accept has found the queue empty, it takes each later error for
// an empty queue too, and spins when descriptors run out.

void QtLoop::listen() {
  for (const Listener* listener : listeners()) {
    acceptors_.push_back(std::make_unique<QSocketNotifier>(listener->fd(), QSocketNotifier::Read));
    QObject::connect(acceptors_.back().get(), &QSocketNotifier::activated, &context_, [this, listener] {
      on_event([&] {
        if (!accepting_paused()) accept_peers(*listener, SOCK_NONBLOCK);
      });
    });
  }
}

void QtLoop::watch_listeners() {
  for (const auto& acceptor : acceptors_)
    if (acceptor->isEnabled() == accepting_paused()) acceptor->setEnabled(!accepting_paused());
}

// A loop with one peer.

void QtLoop::await_peer(std::function<void()> dialled) {
  awaiting_ = true;
  dialled_ = std::move(dialled);
}

void QtLoop::give(Fd socket) {
  const auto shared = std::make_shared<Fd>(std::move(socket));
  const auto take = [this, shared] {
    awaiting_ = false;
    on_event([&] {
      if (shared->is_open()) accepted(std::move(*shared));
    });
  };
  QMetaObject::invokeMethod(&context_, take, Qt::QueuedConnection);
}

void QtLoop::report_dial() {
  const bool is_dialling = !peers().empty() && peers().front()->dial.in_progress;
  if (!awaiting_ && !is_dialling) std::exchange(dialled_, nullptr)();
}

// The stop.

void QtLoop::request_stop() {
  stop_notifier_.setEnabled(false);  // it stays readable
  stopping_ = true;
}

void QtLoop::stop_by_and_by() {
  if (draining() || awaiting_) return;
  acceptors_.clear();
  end_accepting(SOCK_NONBLOCK);
  if (!may_drain()) return;
  admit_dealt();
  for (const auto& peer : peers()) peer->readable = true;  // to read input that has arrived
  begin_drain();
}

}  // namespace joust
