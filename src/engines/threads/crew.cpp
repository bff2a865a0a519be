// SPDX-License-Identifier: MIT
#include "engines/threads/crew.hpp"

#include <poll.h>
#include <sched.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "engines/loop/loops.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {
namespace {

constexpr unsigned kSendsPerTurn = 16;  // so that a fast reader does not keep a thread from reading
constexpr Duration kRepeatNudge = std::chrono::milliseconds(5);

}  // namespace

CrewPeer::Task CrewPeer::await_task() {
  std::unique_lock lock(mutex);
  given.wait(lock, [this] { return task != Task::none; });
  return task;
}

void CrewPeer::give(Task what) {
  const std::lock_guard lock(mutex);
  task = what;
  given.notify_one();
}

void CrewPeer::catch_up(Publications* publications, Time now) {
  if (publications != nullptr && publications->count() != seen) {
    seen = publications->count();
    connection->refresh(now);
  }
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

Crew::Crew(const Hosting& hosting, std::function<void(CrewPeer&)> live)
    : hosting_(hosting), live_(std::move(live)), publications_(hosting.service.publications()) {
  if (publications_ != nullptr) publications_->subscribe(waker_);
}

Crew::~Crew() {
  end_at_once();
  while (!peers_.empty()) {
    pollfd ended{.fd = waker_.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, 1) < 0) pause_for_shortage();
    now_ = Clock::now();
    waker_.clear();
    join_ended();
    repeat_nudges();
  }
  if (publications_ != nullptr) publications_->unsubscribe(waker_);
}

std::optional<Failure> Crew::prepare() noexcept {
  try {
    if (!spare_.empty()) return std::nullopt;
    CrewPeer& peer = spare_.emplace_back();
    peer.self = spare_.begin();
    peer.thread.start([this, &peer] { run_thread(peer); });
    return std::nullopt;
  } catch (const std::exception& error) {
    spare_.clear();
    return failure_of(error);
  }
}

void Crew::start(Fd socket) {
  CrewPeer& peer = spare_.front();
  peers_.splice(peers_.end(), spare_);
  peer.socket = std::move(socket);
  peer.give(CrewPeer::Task::live);
}

void Crew::run_thread(CrewPeer& peer) noexcept {
  if (peer.await_task() == CrewPeer::Task::live) {
    try {
      live_(peer);
    } catch (const std::exception& error) {
      const std::lock_guard lock(peer.mutex);
      break_off(peer, failure_of(error));
      peer.connection.reset();
      peer.socket.close();
    }
  }
  {
    const std::lock_guard lock(mutex_);
    peer.ended_before = std::exchange(ended_last_, &peer);
  }
  waker_.wake();
}

// A failure that concerns only this peer: no memory for its session, a refused call on its socket, an
// exception of its session. Called with the peer's lock held; the owner then closes.
void Crew::break_off(CrewPeer& peer, const Failure& failure) noexcept {
  try {
    if (peer.connection) return peer.connection->failed(failure, Clock::now());
    hosting_.not_opened(failure, Clock::now());
  } catch (const std::exception&) {
    // The session threw again. The connection ends all the same, and has been counted.
  }
}

// A signal counts as an event: it may be a nudge.
void Crew::wait_failed() const {
  const int error = errno;
  if (error == EINTR) return;
  if (error != ENOMEM && error != EAGAIN) throw std::system_error(error, std::generic_category(), "ppoll()");
  hosting_.tally.note("waits failed for want of kernel memory");
  pause_for_shortage();
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
  CrewPeer* ended = nullptr;
  {
    const std::lock_guard lock(mutex_);
    ended = std::exchange(ended_last_, nullptr);
  }
  while (ended != nullptr) {
    const auto self = ended->self;
    ended = ended->ended_before;
    peers_.erase(self);  // joins its thread
  }
}

void Crew::pass_publications() {
  if (!will_speak()) return;
  const std::uint64_t count = publications_->count();
  if (hosting_.serves() && gathering_.keep_on(now_, count, peers_.size())) {
    ::sched_yield();  // lets threads run that have something to publish
    return;
  }
  told_ = count;
  for (CrewPeer& peer : peers_)
    if (!speak_for(peer)) nudge(peer);
}

// Sends what has been published. False if the owner has to act.
bool Crew::speak_for(CrewPeer& peer) noexcept {
  const std::unique_lock lock(peer.mutex, std::try_to_lock);
  if (!lock) return false;
  if (!peer.connection) return true;  // not open yet: the owner will catch up; or over
  try {
    peer.catch_up(publications_, now_);
    if (peer.connection->source()) return false;  // sendfile() may block: left to the owner
    // If the socket is full, the owner already waits for room and will send.
    if ((peer.waits_for & POLLOUT) == 0) peer.flush(now_);
    const auto due = peer.connection->deadline();
    return !peer.connection->ended() && (peer.interest() & ~peer.waits_for) == 0 &&
           (!due || *due >= peer.back_by);
  } catch (const std::exception& error) {
    break_off(peer, failure_of(error));
    return false;
  }
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
  for (CrewPeer& peer : spare_) peer.give(CrewPeer::Task::leave);
  peers_.splice(peers_.end(), spare_);
  nudge_all();
}

void Crew::end_at_once() {
  if (!ending_.exchange(true)) drain();
}

}  // namespace joust
