// SPDX-License-Identifier: MIT
//
// threads: every connection has its own thread, which blocks in recv; the kernel's scheduler takes the loop's
// place.
//
//     host   ppoll --> accept4, connect --> a thread:  recv --> session --> send
//              ^                                        ^                    |
//              |                                        +--------------------+
//              +---- threads that have ended <---- publications <---- the stop
//
// Good at: long computations, because they delay no other connection; a message costs only two system calls.
// Bad at: thousands of connections. Each takes a stack, and each message a switch to another thread.
//
// recv blocks, but send does not: if both peers blocked in send, neither would read, for ever. When a socket
// is full, ppoll waits for room and for input alike. ppoll also waits when a deadline is nearer than recv's
// timeout, because ppoll is exact, while SO_RCVTIMEO costs nothing but is rounded to the kernel's ticks.
// blocking/thread_host.hpp has the host, and explains how sleeping threads are interrupted. Left out on
// purpose: a pool of threads, and a second thread per connection for writing (two_threads.cpp). For files,
// sendfile and splice replace send and recv: files/file_io.hpp. sendfile has no MSG_DONTWAIT, and may block
// for up to one tick of the kernel.
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <mutex>

#include "base/system/events.hpp"
#include "engines/blocking/blocking_read.hpp"
#include "engines/blocking/thread_host.hpp"
#include "engines/files/file_io.hpp"
#include "engines/loop/polled.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/loop/waiting.hpp"
#include "engines/poll.hpp"
#include "net/socket_options.hpp"

namespace joust {
namespace {

// A connection with one thread, for which the host sends publications: waking a thousand threads to send a
// message takes longer than sending it. The host waits neither for a lock nor for room in a socket. Where it
// would have to, or where the owner's sleep no longer fits its interest, it nudges the owner.
class ThreadsPeer : public ThreadedPeer {
 public:
  explicit ThreadsPeer(ThreadHost& host) : ThreadedPeer(host, 1) {}

  void flush(Time now);    // sends what is possible without waiting
  short interest() const;  // the events of ppoll to wait for

  short waits_for = 0;  // the owner sleeps until one of these events,
  Time back_by{};       // or this time

 private:
  void hold(std::size_t thread) override;
  bool pass_publications() noexcept override;
  bool speak(Time now);
  void rouse() override { interrupt(0); }
};

void ThreadsPeer::flush(Time now) {
  send_a_turn(socket.get(), *connection, now);
}

short ThreadsPeer::interest() const {
  const int events = (connection->wants_input() ? POLLIN : 0) | (connection->has_output() ? POLLOUT : 0);
  return static_cast<short>(events);
}

bool ThreadsPeer::pass_publications() noexcept {
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) return false;
  if (!connection) return true;  // not open yet, and the owner will catch up; or over
  try {
    return speak(Clock::now());  // after the lock: a session's time never goes back
  } catch (const std::exception& error) {
    break_off(failure_of(error));
    return false;
  }
}

// Sends what has been published. Returns false if the owner has to act.
bool ThreadsPeer::speak(Time now) {
  catch_up(now);
  if (connection->source()) return false;  // sendfile() may block: left to the owner
  // If the socket is full, the owner already waits for room and will send.
  if ((waits_for & POLLOUT) == 0) flush(now);
  const auto due = connection->deadline();
  return !connection->ended() && (interest() & ~waits_for) == 0 && (!due || *due >= back_by);
}

// The work of one connection's thread. It lives on that thread's stack.
class Conversation {
 public:
  explicit Conversation(ThreadsPeer& peer)
      : hosting_(peer.host().hosting()),
        host_(peer.host()),
        peer_(peer),
        wait_strategy_(hosting_.options.wait, hosting_.options.paced),
        file_input_(host_.pipes(), hosting_.limits) {}

  void hold();

 private:
  bool take_turn();
  bool puts_off_deadlines();
  Duration next_wait();
  ReadResult listen(Duration wait);
  ReadResult listen_for_a_reset(Duration wait);

  const Hosting& hosting_;
  ThreadHost& host_;
  ThreadsPeer& peer_;
  Time now_{};
  WaitStrategy wait_strategy_;
  Lateness lateness_;
  bool paused_ = false;  // the last wait ended much too late
  bool found_ = false;   // input was found in this turn
  FileInput file_input_;
  std::size_t for_file_ = 0;  // bytes that may be read for a file
  bool silent_ = false;       // in this turn the host sends for this thread
  bool has_hung_up_ = false;  // the peer has hung up, and that has been reported
  LeaveTaking leave_;
  std::array<std::byte, kMostRead> buffer_;
};

void Conversation::hold() {
  set_timeout(peer_.socket.get(), SO_RCVTIMEO, kTick);
  set_timeout(peer_.socket.get(), SO_SNDTIMEO, kSendTick);
  std::unique_lock lock(peer_.mutex);
  now_ = Clock::now();
  while (take_turn()) {
    const bool stopping = host_.draining();
    const Duration wait = next_wait();
    lock.unlock();
    const ReadResult result = listen(wait);
    lock.lock();
    const Time until = now_ + std::min(wait, kTick);
    now_ = Clock::now();
    paused_ = now_ > until + Lateness::kPause;
    found_ = result.has_input();
    if (found_) wait_strategy_.found_work(now_);
    report(result, *peer_.connection, file_input_, now_);
    if (stopping && !leave_.is_taken()) leave_.go_on(result, *peer_.connection, hosting_.limits, now_);
  }
}

// Returns false when the connection is over.
bool Conversation::take_turn() {
  // The nudge is acknowledged first; then everything it may refer to is examined, below.
  if (peer_.nudged.load(std::memory_order_relaxed)) peer_.nudged.exchange(false);
  peer_.catch_up(now_);
  if (!puts_off_deadlines()) peer_.connection->on_time(now_);
  silent_ = host_.will_speak();
  if (!silent_) peer_.flush(now_);
  return !peer_.connection->ended() && !host_.ending();
}

bool Conversation::puts_off_deadlines() {
  if (!paused_ && !lateness_.is_putting_off()) return false;
  return lateness_.puts_off(peer_.connection->deadline().value_or(Time::max()), found_, now_);
}

// Returns the longest wait, and records for the host the events waited for.
Duration Conversation::next_wait() {
  const bool look_only = peer_.nudged || (host_.draining() && !leave_.is_taken());
  auto due = peer_.connection->deadline();
  if (due) due = lateness_.sleeps_until(*due);
  const Duration wait = look_only ? Duration::zero() : wait_strategy_.next_wait(due, now_);
  peer_.waits_for = static_cast<short>(peer_.interest() & ~(silent_ ? POLLOUT : 0));
  peer_.back_by = now_ + std::min(wait, kTick);
  for_file_ = file_input_.wanted(*peer_.connection);
  return wait;
}

// Waits for the recorded events, without the lock, and reads.
ReadResult Conversation::listen(Duration wait) {
  if (peer_.waits_for == 0) return listen_for_a_reset(wait);
  const bool blocking = peer_.waits_for == POLLIN && wait >= kTick;
  // splice has no MSG_DONTWAIT, and would hold its pipe while it waits.
  if (for_file_ > 0 || (!blocking && wait > Duration::zero())) {
    pollfd socket{.fd = peer_.socket.get(), .events = peer_.waits_for, .revents = 0};
    const timespec timeout = to_timespec(std::min(wait, kTick));
    if (::ppoll(&socket, 1, &timeout, nullptr) < 0) wait_failed(hosting_, "ppoll()");
    if ((socket.revents & ~POLLOUT) == 0) return {{}, EAGAIN};
  }
  if ((peer_.waits_for & POLLIN) == 0) return {{}, EAGAIN};
  if (for_file_ > 0)
    if (const auto n = file_input_.fill(peer_.socket.get(), for_file_)) return ReadResult::filled(*n);
  const std::size_t most = std::min(buffer_.size(), hosting_.limits.read_bytes);
  const ssize_t n = ::recv(peer_.socket.get(), buffer_.data(), most, blocking ? 0 : MSG_DONTWAIT);
  if (n >= 0) return {std::span(buffer_).first(static_cast<std::size_t>(n)), 0};
  const int error = errno;
  if (wait == Duration::zero()) ::sched_yield();  // more threads may spin than cores exist
  return {{}, error};
}

// While nothing is wanted from the peer, only a reset matters. After a reported hang-up the socket is left
// out, because it would end each further sleep at once.
ReadResult Conversation::listen_for_a_reset(Duration wait) {
  pollfd socket{.fd = peer_.socket.get(), .events = 0, .revents = 0};
  const timespec timeout = to_timespec(std::min(wait, kTick));
  if (::ppoll(&socket, has_hung_up_ ? 0 : 1, &timeout, nullptr) < 0) wait_failed(hosting_, "ppoll()");
  if (socket.revents != 0) has_hung_up_ = true;
  const int error = (socket.revents & POLLERR) != 0 ? connect_result(peer_.socket.get()) : 0;
  return {{}, error != 0 ? error : EAGAIN};
}

void ThreadsPeer::hold(std::size_t /*thread*/) {
  Conversation(*this).hold();
}

}  // namespace

extern const Engine kThreads{
    .name = "threads",
    .summary = "a thread for every connection, blocking in recv",
    .own_threads = true,
    .threads = "one per connection",
    .wait_ignored = {},
    .knobs = {},
    .run = run_loops<Polled<HostOf<ThreadsPeer>, Poll>>,
};

}  // namespace joust
