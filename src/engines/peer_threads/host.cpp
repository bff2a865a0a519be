// SPDX-License-Identifier: MIT
#include "engines/peer_threads/host.hpp"

#include <algorithm>
#include <utility>

#include "base/sigpipe.hpp"
#include "base/system/ppoll.hpp"
#include "connection/tally.hpp"
#include "engines/peer_threads/blocking_dial.hpp"
#include "engines/loop/wait_strategy.hpp"

namespace joust {
namespace {

// How often a draining host looks for a second stop.
constexpr Duration kLookForStop = std::chrono::milliseconds(50);
constexpr std::size_t kBeforeListeners = 2;  // ppoll entries before the listeners

// A dial in progress. Its end, successful or not, allows another one to start.
class Dialling {
 public:
  Dialling(std::atomic<std::size_t>& under_way, PeerThreads& peer_threads)
      : under_way_(under_way), peer_threads_(peer_threads) {}
  ~Dialling() {
    under_way_.fetch_sub(1);
    peer_threads_.wake_host();
  }
  Dialling(const Dialling&) = delete;
  Dialling& operator=(const Dialling&) = delete;

 private:
  std::atomic<std::size_t>& under_way_;
  PeerThreads& peer_threads_;
};

}  // namespace

Host::Host(const Hosting& hosting, Stop& stop, PeerThreads::MakePeer make)
    : hosting_(hosting),
      stop_(stop),
      listeners_(hosting.listeners),
      undialled_(hosting.dials),
      vacancies_(hosting.service, hosting.vacancies),
      peer_threads_(hosting, std::move(make), [this](ThreadedPeer& peer) { dial(peer); }) {
  events_.reserve(kBeforeListeners + listeners_.size());
}

// Closes the listeners. After an exception, peers in the accept queue would otherwise wait for ever.
Host::~Host() {
  for (Listener* const listener : listeners_) listener->close();
}

// Called by a peer's thread.
void Host::dial(ThreadedPeer& peer) {
  const Dialling under_way(connecting_, peer_threads_);
  peer.socket = dial_blocking(hosting_, peer_threads_, peer.dial_until);
}

void Host::run() {
  const SigpipeBlock block;  // for send_file(), on all threads
  hosting_.ready();
  for (start_dials(); !over(); start_dials()) {
    wait();
    attend_threads();
    accept_from_ready();
    if (stop_.requested() && !drain_by_) begin_drain();
    if (stop_.at_once() || (drain_by_ && now_ >= *drain_by_)) peer_threads_.end_at_once();
  }
}

void Host::attend_threads() {
  const std::size_t before = peer_threads_.size();
  peer_threads_.attend(now_);
  if (hosting_.room(before) == 0 && peer_threads_.size() < before) accept_again_.reset();
  if (hosting_.serves() || drain_by_) return;
  for (std::size_t ended = before - peer_threads_.size(); ended > 0; --ended) vacancies_.add();
}

void Host::wait() {
  Time until = now_ + (drain_by_ ? kLookForStop : WaitStrategy::kForever);
  if (accept_again_) until = std::min(until, *accept_again_);
  if (const auto due = peer_threads_.due()) until = std::min(until, *due);
  if (const auto due = vacancies_.due(); due && connecting_ < hosting_.limits.dials_at_once)
    until = std::min(until, *due);
  const timespec timeout = to_timespec(std::max(Duration::zero(), until - Clock::now()));
  events_.clear();  // ppoll ignores negative descriptors
  events_.push_back({.fd = peer_threads_.fd(), .events = POLLIN, .revents = 0});
  events_.push_back({.fd = drain_by_ ? -1 : stop_.fd(), .events = POLLIN, .revents = 0});
  for (const Listener* listener : listeners_)
    events_.push_back({.fd = accept_again_ ? -1 : listener->fd(), .events = POLLIN, .revents = 0});
  if (::ppoll(events_.data(), events_.size(), &timeout, nullptr) < 0) peer_threads_.wait_failed();
  now_ = Clock::now();
  if (accept_again_ && now_ >= *accept_again_) accept_again_.reset();
}

void Host::accept_from_ready() {
  for (std::size_t i = 0; i < listeners_.size() && !accept_again_; ++i)
    if (events_[kBeforeListeners + i].revents != 0) accept_peers(*listeners_[i]);
}

// Accepts peers. A peer is accepted only when threads wait for it. While no threads can be started, peers
// wait in the queue, as they do when descriptors run out.
void Host::accept_peers(const Listener& listener) {
  for (unsigned i = 0; i < hosting_.limits.accepts_per_turn; ++i) {
    const bool room = hosting_.room(peer_threads_.size()) > 0 && !peer_threads_.prepare();
    // The listener is non-blocking, because a peer may leave before accept4. The accepted socket is blocking.
    Accepted accepted = room ? listener.accept(0) : Accepted{AcceptOutcome::busy, {}};
    if (accepted.outcome == AcceptOutcome::none) return;
    if (accepted.outcome == AcceptOutcome::busy) {
      hosting_.accepting_pauses(kAcceptingPausedForThreads, now_);
      accept_again_ = now_ + hosting_.limits.accept_pause;
      return;
    }
    peer_threads_.start(std::move(accepted.socket));
  }
}

void Host::start_dials() {
  while (!drain_by_ && connecting_ < hosting_.limits.dials_at_once) {
    Time until = Time::max();
    if (undialled_ > 0)
      --undialled_;
    else if (const auto again = vacancies_.take(now_))
      until = again->until;
    else
      return;
    connecting_.fetch_add(1);
    if (take_on(Fd{}, until)) continue;
    connecting_.fetch_sub(1);
    vacancies_.add();
  }
}

// Starts threads for a connection that cannot wait for them. Returns false, and counts the failure, if no
// thread can be started.
bool Host::take_on(Fd socket, Time dial_until) {
  const auto shortage = peer_threads_.prepare();
  if (!shortage) {
    peer_threads_.start(std::move(socket), dial_until);
    return true;
  }
  hosting_.not_opened(*shortage, now_);
  return false;
}

void Host::begin_drain() {
  drain_by_ = now_ + hosting_.limits.drain;
  for (Listener* listener : std::exchange(listeners_, {})) {
    const auto take = [this](Fd socket) {
      if (!stop_.at_once()) take_on(std::move(socket));
    };
    if (!listener->take_queued(0, hosting_.room(peer_threads_.size()), *drain_by_, take))
      hosting_.tally.note(kLeftInQueue);
    listener->close();
  }
  vacancies_.abandon();
  peer_threads_.drain();
}

}  // namespace joust
