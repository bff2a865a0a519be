// SPDX-License-Identifier: MIT
#include "engines/asio/hub.hpp"

#include <fcntl.h>

#include <utility>

#include "connection/tally.hpp"

namespace joust {

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
  if (stopping_) return;
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
  } else if (!stopping_ && error != asio::error::operation_aborted &&
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
  if (stopping_) peers_.back()->tell(at_once_ ? AsioPeer::News::end : AsioPeer::News::stop, home_.reserve());
}

void AsioHub::admit(int family, Fd socket) {
  try {
    admit(asio_socket(contexts_.next(), family, std::move(socket)));
  } catch (const std::system_error& error) {
    hosting_.not_opened(failure_of(error), Clock::now());
  }
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
  if (over_) return;
  if (publications_ != nullptr && gather()) return home_.post([this] { hear_news(); });
  if (!over_) await(news_, &AsioHub::hear_news);
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
  if (std::exchange(stopping_, true)) return;  // end_all() has run first
  close_doors();
  const Time until = Clock::now() + hosting_.limits.drain;
  tell_all(AsioPeer::News::stop);
  for (Listener* const listener : hosting_.listeners) {
    const auto take = [&](Fd socket) { admit(listener->endpoint().family(), std::move(socket)); };
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
  at_once_ = stopping_ = true;
  close_doors();
  dialling_.abandon();
  tell_all(AsioPeer::News::end);
  end_if_over();
}

// Ends the remaining waits if the run is over, so that the contexts have no work left.
void AsioHub::end_if_over() {
  if (over_ || !peers_.empty() || !(stopping_ || (!hosting_.serves() && dialling_.is_done()))) return;
  over_ = true;
  stop_.end();
  stop_at_once_.end();
  news_.end();
  drain_limit_.cancel();
  on_over_();
}

}  // namespace joust
