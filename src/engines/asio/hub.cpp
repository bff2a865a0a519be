// SPDX-License-Identifier: MIT
#include "engines/asio/hub.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "connection/tally.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

// Returns EAGAIN if the connect met a full backlog of a unix socket, otherwise 0. The library waits for such
// a socket as for a TCP connect in progress. The kernel forgets such a connect, so it seems to succeed,
// without a peer.
int full_backlog(const AsioSocket& socket, const Endpoint& endpoint) {
  AsioError error;
  if (endpoint.family() == AF_UNIX) static_cast<void>(socket.remote_endpoint(error));
  return error == asio::error::not_connected ? EAGAIN : 0;
}

}  // namespace

AsioDialling::AsioDialling(const Hosting& hosting, AsioHome& home, std::function<AsioExecutor()> context,
                           std::function<void(AsioSocket)> admit, std::function<void()> on_done)
    : hosting_(hosting),
      home_(home),
      context_(std::move(context)),
      admit_(std::move(admit)),
      on_done_(std::move(on_done)),
      dials_(hosting, hosting.dials, hosting.vacancies),
      again_(home_.context()) {}

void AsioDialling::start() {
  while (const auto dial = dials_.start(Clock::now())) begin(*dial);
  const auto due = dials_.due();
  again_.expires_at(due.value_or(Time::max()));  // ends an older wait, which would keep the context at work
  if (!due) return;
  again_.async_wait(home_.bind([this](const AsioError& error) {
    if (error) return;  // cancelled: the timer was set to another time
    start();
    if (is_done()) on_done_();
  }));
}

void AsioDialling::ended() {
  dials_.ended();
  start();
}

void AsioDialling::begin(const Dial& dial) {
  Dial failed = dial;
  Shared attempt;
  try {
    const Target& target = *hosting_.target;
    Fd socket = target.make_socket(dial.endpoint, SOCK_NONBLOCK);
    const AsioExecutor context = context_();
    const int family = target.endpoint(dial.endpoint).family();
    attempt =
        std::make_shared<Attempt>(dial, asio_socket(context, family, std::move(socket)), AsioTimer(context));
    attempt->dial.give_up = std::min(dial.until, Clock::now() + hosting_.limits.connect);
    attempts_.insert(attempt);
    set_timer(attempt, attempt->dial.give_up);
    connect(attempt);
  } catch (const std::system_error& error) {
    give_up(attempt, failed, {Stage::connect, error.code().value(), hosting_.target->name()});
  } catch (const std::exception& error) {  // out of memory
    give_up(attempt, failed, failure_of(error));
  }
}

// `attempt` is null if no socket, or no memory, was available for it.
void AsioDialling::give_up(const Shared& attempt, Dial& dial, const Failure& failure) {
  if (attempt) end(attempt);
  dials_.failed(dial, failure, Clock::now());
}

void AsioDialling::connect(const Shared& attempt) {
  const Endpoint& to = hosting_.target->endpoint(attempt->dial.endpoint);
  attempt->socket.async_connect(
      AsioProtocol::endpoint(to.raw(), to.size), home_.bind([this, attempt, &to](const AsioError& error) {
        if (!attempts_.contains(attempt)) return;  // the dial was given up
        connected(attempt, error ? error.value() : full_backlog(attempt->socket, to));
      }));
}

// A full backlog of a unix socket is retried until the connect limit, as TCP does by itself.
void AsioDialling::connected(const Shared& attempt, int error) {
  if (is_full_backlog(error, hosting_.target->endpoint(attempt->dial.endpoint).family())) {
    attempt->dial.again = true;
    return set_timer(attempt, std::min(Clock::now() + Dials::kTryAgain, attempt->dial.give_up));
  }
  end(attempt);
  if (error != 0) {
    close(attempt->socket);
    dials_.failed(attempt->dial, error, Clock::now());
  } else {
    dials_.succeeded(attempt->dial);
    admit_(std::move(attempt->socket));
  }
  start();
  if (is_done()) on_done_();
}

void AsioDialling::set_timer(const Shared& attempt, Time when) {
  attempt->timer.expires_at(when);
  attempt->timer.async_wait(home_.bind([this, attempt](const AsioError& error) {
    if (!error && attempts_.contains(attempt)) on_timer(attempt);
  }));
}

void AsioDialling::on_timer(const Shared& attempt) {
  if (Clock::now() >= attempt->dial.give_up) return connected(attempt, ETIMEDOUT);
  set_timer(attempt, attempt->dial.give_up);
  if (std::exchange(attempt->dial.again, false)) connect(attempt);
}

void AsioDialling::end(const Shared& attempt) {
  attempt->timer.cancel();
  attempts_.erase(attempt);
}

void AsioDialling::abandon() {
  dials_.abandon();
  again_.cancel();
  for (const Shared& attempt : std::exchange(attempts_, {})) {
    attempt->timer.cancel();
    close(attempt->socket);
  }
}

void AsioChores::go_on() {
  chore_.do_if_due(Clock::now());
  if (!wanted_ || chore_.due() == Time::max()) return;
  is_waiting_ = true;
  timer_.expires_at(chore_.due());
  timer_.async_wait(home_.bind([this](const AsioError& error) {
    is_waiting_ = false;
    if (!error) go_on();
  }));
}

void AsioChores::end() {
  if (!wanted_) return;  // several threads may look at it
  wanted_ = false;
  timer_.cancel();
}

AsioHub::AsioHub(const Hosting& hosting, Stop& stop, std::vector<AsioExecutor> contexts, MakePeer make,
                 std::function<void()> on_over, AsioReserve& reserve)
    : hosting_(hosting),
      request_(stop),
      contexts_(std::move(contexts)),
      make_(std::move(make)),
      on_over_(std::move(on_over)),
      publications_(hosting.service.publications()),
      home_(contexts_.front(), reserve),
      stop_(contexts_.front(), stop.fd()),
      stop_at_once_(contexts_.front(), stop.at_once_fd()),
      news_(contexts_.front(), waker_.fd()),
      drain_limit_(contexts_.front()),
      chores_(hosting, home_),
      dialling_(
          hosting, home_, [this] { return contexts_.next(); },
          [this](AsioSocket socket) { admit(std::move(socket)); }, [this] { end_if_over(); }) {
  for (const Listener* const listener : hosting.listeners)
    doors_.push_back({*listener,
                      {contexts_.front(), AsioProtocol(listener->endpoint().family(), 0), listener->fd()},
                      AsioTimer(contexts_.front())});
  if (publications_ != nullptr) publications_->subscribe(waker_);
  home_.post([this] { begin(); });
}

AsioHub::~AsioHub() {
  if (publications_ != nullptr) publications_->unsubscribe(waker_);
  doors_.clear();
  // After an immediate end, peers in the accept queue would otherwise wait for ever.
  for (Listener* const listener : hosting_.listeners) listener->close();
}

void AsioHub::begin() {
  if (request_.at_once()) return end_all();  // another thread could not be started
  await(stop_, &AsioHub::begin_drain);
  await(stop_at_once_, &AsioHub::end_all);
  hear_news();  // publications may be older than this run
  for (Door& door : doors_) accept(door);
  dialling_.start();
  end_if_over();
}

void AsioHub::await(AsioLoan<AsioDescriptor>& descriptor, void (AsioHub::*step)()) {
  const auto done = [this, step](const AsioError& error) {
    if (!error) (this->*step)();
  };
  descriptor.async_wait(AsioDescriptor::wait_read, home_.bind(done));
}

// Accepting. The hub accepts one peer at a time. The handler goes to the end of the context's queue, so other
// handlers have their turn in between.

void AsioHub::accept(Door& door) {
  if (std::exchange(door.is_paused, false)) door.pause.cancel();
  if (phase_ != Phase::running) return;
  if (hosting_.room(peers_.size()) == 0) return pause_accepting(door);
  door.acceptor.async_accept(contexts_.next(),
                             home_.bind([this, &door](const AsioError& error, AsioSocket socket) {
                               accepted(door, error, std::move(socket));
                             }));
}

void AsioHub::accepted(Door& door, const AsioError& error, AsioSocket socket) {
  if (!error) {
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);  // the library accepts without this flag
    door.listener.note_facts(socket.native_handle());
    admit(std::move(socket));
  } else if (phase_ == Phase::running && error != asio::error::operation_aborted &&
             accept_outcome(error.value()) == AcceptOutcome::busy) {
    return pause_accepting(door);
  }
  accept(door);
}

void AsioHub::pause_accepting(Door& door) {
  hosting_.accepting_pauses(kAcceptingPaused, Clock::now());
  door.is_paused = true;
  door.pause.expires_after(hosting_.limits.accept_pause);
  door.pause.async_wait(home_.bind([this, &door](const AsioError& error) {
    if (!error && door.is_paused) accept(door);
  }));
}

// The life of a peer. `peers_` and the peer's handlers keep it until its last handler has run.

void AsioHub::admit(AsioSocket socket) {
  const std::size_t place = peers_.size();
  try {
    peers_.push_back(make_(*this, std::move(socket)));
    peers_.back()->index = place;
    peers_.back()->tell(AsioPeer::News::established, home_.reserve());
  } catch (const std::exception& error) {
    hosting_.not_opened(failure_of(error), Clock::now());
    if (peers_.size() > place) return peers_.back()->close();
    if (!hosting_.serves()) dialling_.ended();
    return;
  }
  if (phase_ != Phase::running)
    peers_.back()->tell(at_once_ ? AsioPeer::News::end : AsioPeer::News::stop, home_.reserve());
  found_work();
}

void AsioHub::left(AsioPeer& peer) noexcept {
  left_.push(peer);
  waker_.wake();
}

void AsioHub::tell_all(AsioPeer::News news) {
  for (const auto& peer : peers_) peer->tell(news, home_.reserve());
}

// News: peers that have left, and publications. A server waits for further publications, and passes them to
// its peers together: see BroadcastDelay. It checks for them between other handlers, by posting itself to the
// end of the queue.

void AsioHub::hear_news() {
  waker_.clear();
  while (const AsioPeer* const peer = left_.pop()) {
    const std::size_t place = peer->index;
    std::swap(peers_[place], peers_.back());
    peers_[place]->index = place;
    peers_.pop_back();
    if (hosting_.room(peers_.size() + 1) == 0)
      for (Door& door : doors_)
        if (door.is_paused) accept(door);  // a place is free
    if (!hosting_.serves()) dialling_.ended();
    end_if_over();
  }
  if (phase_ == Phase::over) return;
  if (publications_ != nullptr && gather()) return home_.post([this] { hear_news(); });
  if (phase_ != Phase::over) await(news_, &AsioHub::hear_news);
}

// Returns true while it waits for further publications.
bool AsioHub::gather() {
  const std::uint64_t count = publications_->count();
  if (count == told_.load(std::memory_order_relaxed)) return false;
  if (hosting_.serves() && broadcast_delay_.postpones(Clock::now(), count, peers_.size())) return true;
  told_.store(count, std::memory_order_relaxed);
  tell_all(AsioPeer::News::published);
  dialling_.start();
  end_if_over();
  return false;
}

bool AsioHub::is_batching() const {
  return publications_ != nullptr && hosting_.serves() &&
         publications_->count() != told_.load(std::memory_order_relaxed);
}

// The stop. Peers in the accept queue are served. The library may have accepted a peer whose handler has not
// run yet: accepted() then admits it.

void AsioHub::close_doors() {
  for (Door& door : doors_) {
    door.acceptor.end();
    door.pause.cancel();
  }
}

void AsioHub::begin_drain() {
  if (phase_ != Phase::running) return;  // end_all() has run first
  phase_ = Phase::stopping;
  close_doors();
  const Time until = Clock::now() + hosting_.limits.drain;
  tell_all(AsioPeer::News::stop);
  for (Listener* const listener : hosting_.listeners) {
    const auto take = [&](Fd socket) {
      try {
        admit(asio_socket(contexts_.next(), listener->endpoint().family(), std::move(socket)));
      } catch (const std::system_error& error) {
        hosting_.not_opened(failure_of(error), Clock::now());
      }
    };
    if (!listener->take_queued(SOCK_NONBLOCK, hosting_.room(peers_.size()), until, take))
      hosting_.tally.note(kLeftInQueue);
    listener->close();
  }
  dialling_.abandon();
  drain_limit_.expires_at(until);
  drain_limit_.async_wait(home_.bind([this](const AsioError& error) {
    if (!error) end_all();
  }));
  end_if_over();
}

// Both requests may be pending at the same time, and the second one may be handled first.
void AsioHub::end_all() {
  at_once_ = true;
  if (phase_ == Phase::running) phase_ = Phase::stopping;
  close_doors();
  dialling_.abandon();
  tell_all(AsioPeer::News::end);
  end_if_over();
}

// Ends the remaining waits if the run is over, so that the contexts have no work left.
void AsioHub::end_if_over() {
  const bool ends = phase_ != Phase::running || (!hosting_.serves() && dialling_.is_done());
  if (phase_ == Phase::over || !peers_.empty() || !ends) return;
  phase_ = Phase::over;
  stop_.end();
  stop_at_once_.end();
  news_.end();
  drain_limit_.cancel();
  chores_.end();
  on_over_();
}

}  // namespace joust
