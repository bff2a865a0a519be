// SPDX-License-Identifier: MIT
#include "engines/qt/host.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "connection/tally.hpp"
#include "engines/qt/application.hpp"

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
      dials_(hosting, hosting.dials, hosting.vacancies) {
  QObject::connect(&stop_notifier_, &QSocketNotifier::activated, &context_,
                   [this] { guarded([this] { on_stop(); }); });
  pause_.setSingleShot(true);
  pause_.callOnTimeout(&context_, [this] { watch_listeners(true); });
  dial_again_.setSingleShot(true);
  dial_again_.callOnTimeout(&context_, [this] { guarded([this] { start_dials(); }); });
  drain_end_.setSingleShot(true);
  drain_end_.callOnTimeout(&context_, [this] { guarded([this] { end_drain(); }); });
  listen();
  if (hosting_.vacancies > 0) watch_publications();
}

// Closes the listeners. After an exception, peers in the accept queue would otherwise wait for ever.
QtHost::~QtHost() {
  if (waker_) hosting_.service.publications()->unsubscribe(*waker_);
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
                     [this, listener] { guarded([&] { accept_peer(*listener); }); });
  }
}

void QtHost::watch_publications() {
  Publications* const publications = hosting_.service.publications();
  if (publications == nullptr) return;
  waker_.emplace();
  published_ = std::make_unique<QSocketNotifier>(waker_->fd(), QSocketNotifier::Read);
  QObject::connect(published_.get(), &QSocketNotifier::activated, &context_, [this] {
    guarded([this] {
      waker_->clear();
      start_dials();
    });
  });
  publications->subscribe(*waker_);
}

// Accepts one peer for each report of the notifier, which comes again while more peers wait. So no thread is
// prepared in vain.
void QtHost::accept_peer(const Listener& listener) {
  const bool room = hosting_.room(clients_) > 0 && !prepare();
  Accepted accepted = room ? listener.accept(SOCK_NONBLOCK) : Accepted{AcceptOutcome::busy, {}};
  if (accepted.outcome == AcceptOutcome::busy) return pause_accepting();
  if (accepted.outcome == AcceptOutcome::accepted) begin(std::move(accepted.socket));
}

void QtHost::pause_accepting() {
  hosting_.accepting_pauses(kAcceptingPausedForThreads, Clock::now());
  watch_listeners(false);
  pause_.start(rounded_up(hosting_.limits.accept_pause));
}

void QtHost::watch_listeners(bool watched) {
  for (const auto& acceptor : acceptors_) acceptor->setEnabled(watched);
}

void QtHost::start_dials() {
  while (auto dial = dials_.start(Clock::now()))
    if (const auto shortage = take_on(Fd{}))
      dials_.failed(*dial, {Stage::connect, shortage->error, shortage->detail}, Clock::now());
  if (const auto due = dials_.due())
    dial_again_.start(rounded_up(std::max(Duration::zero(), *due - Clock::now())));
}

// Starts a client. Returns the failure if no thread can be had for it.
std::optional<Failure> QtHost::take_on(Fd socket) {
  auto shortage = prepare();
  if (!shortage) begin(std::move(socket));
  return shortage;
}

int QtHost::descriptors_needed() const {
  const std::size_t dialling =
      hosting_.serves() ? 0 : std::min<std::size_t>(clients_, hosting_.limits.dials_at_once);
  return kDescriptorsOfLoop + static_cast<int>(dialling);
}

void QtHost::begin(Fd socket) {
  start(std::move(socket));
  ++clients_;  // the client's reports come later
}

// Runs a step of a slot. No exception may pass through Qt: one that gets here ends the run.
void QtHost::guarded(const std::function<void()>& step) noexcept {
  try {
    step();
  } catch (...) {
    if (!error_) error_ = std::current_exception();
    stop_.request();
    stop_.request();
  }
  if (error_ || over()) events_.quit();
}

void QtHost::later(std::function<void()> step) {
  const auto guarded_step = [this, step = std::move(step)] { guarded(step); };
  QMetaObject::invokeMethod(&context_, guarded_step, Qt::QueuedConnection);
}

void QtHost::client_dialled() {
  if (hosting_.serves()) return;
  later([this] {
    Dial dial;
    dials_.succeeded(dial);
    start_dials();
  });
}

void QtHost::client_ended(std::exception_ptr error) {
  later([this, error] {
    --clients_;
    if (error) std::rethrow_exception(error);
    start_dials();
  });
}

void QtHost::client_failed(const Failure& failure) {
  later([this, failure] {
    --clients_;
    if (hosting_.serves()) return hosting_.not_opened(failure, Clock::now());
    Dial dial;
    dials_.failed(dial, failure, Clock::now());
    start_dials();
  });
}

// The notifiers must end before the descriptors are closed.
void QtHost::on_stop() {
  stop_notifier_.setEnabled(false);
  published_.reset();
  acceptors_.clear();
  pause_.stop();
  dial_again_.stop();
  dials_.abandon();
  const Time until = Clock::now() + hosting_.limits.drain;
  for (Listener* const listener : std::exchange(listeners_, {})) {
    const auto take = [this](Fd socket) {
      if (stop_.at_once()) return;
      if (const auto shortage = take_on(std::move(socket))) hosting_.not_opened(*shortage, Clock::now());
    };
    if (!listener->take_queued(SOCK_NONBLOCK, hosting_.room(clients_), until, take))
      hosting_.tally.note(kLeftInQueue);
    listener->close();
  }
  draining_ = true;
  begin_drain();
  drain_end_.start(rounded_up(std::max(Duration::zero(), until - Clock::now())));
}

}  // namespace joust
