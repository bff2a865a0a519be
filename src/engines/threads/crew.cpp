// SPDX-License-Identifier: MIT
#include "engines/threads/crew.hpp"

#include <poll.h>
#include <sched.h>

#include <system_error>
#include <utility>

#include "engines/loop/ready_io.hpp"

namespace joust {
namespace {

constexpr unsigned kSendsPerTurn = 16;  // so that a fast reader cannot keep a thread from listening
constexpr Duration kRepeatNudge = std::chrono::milliseconds(5);

}  // namespace

void CrewPeer::catch_up(Publications* publications, Time now) {
  if (publications != nullptr && publications->count() != seen) {
    seen = publications->count();
    connection->refresh(now);
  }
  connection->on_time(now);
}

void CrewPeer::flush(Time now) {
  for (unsigned sends = 0; sends < kSendsPerTurn && connection->has_output(); ++sends)
    if (!send_ready(socket.get(), *connection, now)) break;
  if (connection->wants_shutdown()) end_stream(socket.get(), *connection, now);
}

short CrewPeer::interest() const {
  const int events = (connection->wants_input() ? POLLIN : 0) | (connection->has_output() ? POLLOUT : 0);
  return static_cast<short>(events);
}

Crew::Crew(const Hosting& hosting, Stop& stop, std::function<void(CrewPeer&)> live)
    : hosting_(hosting), stop_(stop), live_(std::move(live)), publications_(hosting.service.publications()) {
  if (publications_ != nullptr) publications_->subscribe(waker_);
}

Crew::~Crew() {
  end_at_once();
  while (!peers_.empty()) {
    pollfd ended{.fd = waker_.fd(), .events = POLLIN, .revents = 0};
    ::poll(&ended, 1, 1);
    now_ = Clock::now();
    waker_.clear();
    join_ended();
    repeat_nudges();
  }
  if (publications_ != nullptr) publications_->unsubscribe(waker_);
}

bool Crew::start(Fd socket) {
  CrewPeer& peer = peers_.emplace_back(std::move(socket));
  peer.self = std::prev(peers_.end());
  try {
    peer.thread.start([this, &peer] { run_thread(peer); });
    return true;
  } catch (const std::system_error& error) {
    peers_.pop_back();
    const Failure failure{Stage::connect, error.code().value(), "a thread for the connection"};
    hosting_.tally.failed(failure);
    hosting_.service.not_opened(failure, now_);
    return false;
  }
}

void Crew::run_thread(CrewPeer& peer) {
  std::exception_ptr error;
  try {
    live_(peer);
  } catch (...) {
    error = std::current_exception();
    stop_.request();
    stop_.request();
  }
  {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    ended_.push_back(&peer);
  }
  waker_.wake();
}

bool Crew::will_speak() const {
  return publications_ != nullptr && publications_->count() != told_;
}

std::optional<Time> Crew::due() const {
  return gathering_.under_way() ? std::optional(now_) : nudge_again_;
}

void Crew::attend(Time now) {
  now_ = now;
  waker_.clear();
  join_ended();
  pass_publications();
  repeat_nudges();
}

void Crew::join_ended() {
  std::vector<CrewPeer*> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(ended_);
  }
  for (const CrewPeer* peer : ended) peers_.erase(peer->self);  // its thread is joined by that
}

void Crew::pass_publications() {
  if (!will_speak()) return;
  const std::uint64_t count = publications_->count();
  if (hosting_.serves() && gathering_.keep_on(now_, count, peers_.size())) {
    ::sched_yield();  // to those who have something to publish
    return;
  }
  told_ = count;
  for (CrewPeer& peer : peers_)
    if (!speak_for(peer)) nudge(peer);
}

// Sends what a publication has made visible. False when the owner must see to it.
bool Crew::speak_for(CrewPeer& peer) {
  const std::unique_lock lock(peer.mutex, std::try_to_lock);
  if (!lock) return false;
  if (!peer.connection) return true;  // not open yet, and will look then; or over
  peer.catch_up(publications_, now_);
  // Where the socket is full, the owner knows and sends when there is room.
  if ((peer.waits_for & POLLOUT) == 0) peer.flush(now_);
  const auto due = peer.connection->deadline();
  return !peer.connection->ended() && (peer.interest() & ~peer.waits_for) == 0 &&
         (!due || *due >= peer.back_by);
}

void Crew::nudge(CrewPeer& peer) {
  peer.nudged = true;
  peer.thread.interrupt();
  if (!nudge_again_) nudge_again_ = now_ + kRepeatNudge;
}

void Crew::nudge_all() {
  for (CrewPeer& peer : peers_) nudge(peer);
}

void Crew::repeat_nudges() {
  if (!nudge_again_ || now_ < *nudge_again_) return;
  nudge_again_.reset();
  for (CrewPeer& peer : peers_)
    if (peer.nudged) nudge(peer);
}

void Crew::drain() {
  draining_ = true;
  nudge_all();
}

void Crew::end_at_once() {
  if (!ending_.exchange(true)) drain();
}

void Crew::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

}  // namespace joust
