// SPDX-License-Identifier: MIT
#include "engines/qt/host.hpp"

#include <sys/socket.h>

#include <utility>

#include "connection/tally.hpp"

namespace joust {
namespace {

std::chrono::milliseconds rounded_up(Duration time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time);
}

}  // namespace

QtHost::QtHost(const Hosting& hosting, Stop& stop)
    : hosting_(hosting),
      stop_(stop),
      stop_notifier_(stop.fd(), QSocketNotifier::Read),
      listeners_(hosting.listeners),
      undialled_(hosting.dials) {
  QObject::connect(&stop_notifier_, &QSocketNotifier::activated, &context_, [this] { on_stop(); });
  pause_.setSingleShot(true);
  pause_.callOnTimeout(&context_, [this] { watch_listeners(true); });
  drain_end_.setSingleShot(true);
  drain_end_.callOnTimeout(&context_, [this] { end_drain(); });
  listen();
}

// After an exception, peers in the accept queue would otherwise wait for ever.
QtHost::~QtHost() {
  acceptors_.clear();
  for (Listener* const listener : listeners_) listener->close();
}

void QtHost::run() {
  hosting_.ready();
  start_dials();
  if (!over()) events_.exec();
  if (error_) std::rethrow_exception(error_);
}

void QtHost::listen() {
  for (const Listener* listener : listeners_) {
    acceptors_.push_back(std::make_unique<QSocketNotifier>(listener->fd(), QSocketNotifier::Read));
    QObject::connect(acceptors_.back().get(), &QSocketNotifier::activated, &context_,
                     [this, listener] { accept_peer(*listener); });
  }
}

// One peer for each report of the notifier, which comes again while more peers wait: so no thread is prepared
// in vain.
void QtHost::accept_peer(const Listener& listener) try {
  const bool room = hosting_.room(clients_) > 0 && !prepare();
  Accepted accepted = room ? listener.accept(SOCK_NONBLOCK) : Accepted{AcceptOutcome::busy, {}};
  if (accepted.outcome == AcceptOutcome::busy) return pause_accepting();
  if (accepted.outcome == AcceptOutcome::accepted) take_on(std::move(accepted.socket));
} catch (...) {
  client_ended(std::current_exception());
}

void QtHost::pause_accepting() {
  hosting_.tally.note(kAcceptingPausedForThreads);
  watch_listeners(false);
  pause_.start(rounded_up(hosting_.limits.accept_pause));
}

void QtHost::watch_listeners(bool watched) {
  for (const auto& acceptor : acceptors_) acceptor->setEnabled(watched);
}

void QtHost::start_dials() {
  while (undialled_ > 0 && connecting_ < hosting_.limits.dials_at_once) {
    --undialled_;
    if (take_on(Fd{})) ++connecting_;
  }
}

// False, and counted, if there is no thread for the client.
bool QtHost::take_on(Fd socket) {
  const auto shortage = prepare();
  if (shortage) {
    hosting_.not_opened(*shortage, Clock::now());
    return false;
  }
  ++clients_;
  start(std::move(socket));
  return true;
}

void QtHost::client_dialled() {
  const auto count = [this] {
    if (connecting_ > 0) --connecting_;  // an accepted client reports it too
    start_dials();
    if (over()) events_.quit();
  };
  QMetaObject::invokeMethod(&context_, count, Qt::QueuedConnection);
}

void QtHost::client_ended(std::exception_ptr error) {
  const auto count = [this, error] {
    --clients_;
    if (error && !std::exchange(error_, error)) {
      stop_.request();
      stop_.request();
    }
    if (over()) events_.quit();
  };
  QMetaObject::invokeMethod(&context_, count, Qt::QueuedConnection);
}

// The notifiers end before the descriptors do.
void QtHost::on_stop() {
  stop_notifier_.setEnabled(false);
  acceptors_.clear();
  pause_.stop();
  undialled_ = 0;
  for (Listener* const listener : std::exchange(listeners_, {})) {
    const auto take = [this](Fd socket) {
      if (!stop_.at_once()) take_on(std::move(socket));
    };
    if (!listener->take_queued(SOCK_NONBLOCK, hosting_.room(clients_), take))
      hosting_.tally.note(kLeftInQueue);
    listener->close();
  }
  draining_ = true;
  begin_drain();
  drain_end_.start(rounded_up(hosting_.limits.drain));
  if (over()) events_.quit();
}

}  // namespace joust
