// SPDX-License-Identifier: MIT
// Needs Linux: its parent process watches the others through pidfds, which only Linux has
//
// processes: every connection has its own process, forked for it, which blocks in recv.
//
//     parent  ppoll --> accept4 --> fork --> child:  recv --> session --> send
//               ^                               |      ^                    |
//               |                               |      +--------------------+
//               +------ its pidfd <-- _exit <---+
//
// Good at: safety. A crash, a leak or a long computation of one connection concerns no other one. Bad at:
// many connections, and short ones. A fork takes about 0.1 ms and copies the page tables; each message takes
// a switch to another address space. Sessions share no memory, so a room is impossible, and an upload
// belongs to one connection. The counts are in shared memory (connection/tally.hpp): children add to them
// directly, so the counts of a child that crashes are kept.
//
// blocking/parent.cpp accepts, forks and reaps; here is the work of a child. recv blocks, but send does not:
// if both peers blocked in send, neither would read, for ever. When a socket is full, ppoll waits for room
// and for input alike. fork copies only the calling thread: in a program with several threads, a lock that
// another one holds stays locked in the child. Left out on purpose: processes that are forked in advance and
// reused, and the role dial, because the records of a load are in one process.
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <exception>

#include "connection/stream_connection.hpp"
#include "engines/blocking/blocking_read.hpp"
#include "engines/blocking/parent.hpp"
#include "engines/files/file_io.hpp"
#include "engines/loop/loops.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/loop/waiting.hpp"
#include "net/address.hpp"
#include "net/socket_options.hpp"

namespace joust {
namespace {

// The work of a child: one connection, from its session to its end.
class Conversation {
 public:
  // `ending`: the connection must end at once, like all others.
  Conversation(const Hosting& hosting, const Stop& stop, const std::atomic<bool>& ending, int socket);
  void hold();  // returns when the connection is over

 private:
  bool take_turn();
  void listen_once();
  Duration next_wait() const;
  ReadResult listen(Duration wait);
  ReadResult wait_for(short events, Duration wait);

  const Hosting& hosting_;
  const Stop& stop_;
  const std::atomic<bool>& ending_;
  const int socket_;
  Time now_ = Clock::now();
  WaitStrategy wait_strategy_;
  Lateness lateness_;
  FileInput file_input_;
  StreamConnection connection_;
  bool paused_ = false;       // the last wait ended much too late
  bool found_ = false;        // input was found in this turn
  bool has_hung_up_ = false;  // the peer has hung up, and that has been reported
  LeaveTaking leave_;
  std::array<std::byte, kMostRead> buffer_;
};

Conversation::Conversation(const Hosting& hosting, const Stop& stop, const std::atomic<bool>& ending,
                           int socket)
    : hosting_(hosting),
      stop_(stop),
      ending_(ending),
      socket_(socket),
      wait_strategy_(hosting.options.wait),
      file_input_(hosting.tally, hosting.limits),
      connection_(hosting.service.open({.peer = peer_of(socket)}), hosting.limits, hosting.tally, now_) {
  set_timeout(socket_, SO_RCVTIMEO, kTick);
  set_timeout(socket_, SO_SNDTIMEO, kSendTick);
}

void Conversation::hold() {
  try {
    while (take_turn()) listen_once();
  } catch (const std::exception& error) {
    connection_.failed(failure_of(error), now_);
  }
}

void Conversation::listen_once() {
  const bool stopping = stop_.requested();
  const Duration wait = stopping && !leave_.is_taken() ? Duration::zero() : next_wait();
  const ReadResult result = listen(wait);
  const Time until = now_ + std::min(wait, kTick);
  now_ = Clock::now();
  paused_ = now_ > until + Lateness::kPause;
  found_ = result.has_input();
  if (found_) wait_strategy_.found_work(now_);
  report(result, connection_, file_input_, now_);
  if (stopping && !leave_.is_taken()) leave_.go_on(result, connection_, hosting_.limits, now_);
}

// Returns false when the connection is over.
bool Conversation::take_turn() {
  const Time due = connection_.deadline().value_or(Time::max());
  const bool late = paused_ || lateness_.is_putting_off();
  if (!late || !lateness_.puts_off(due, found_, now_)) connection_.on_time(now_);
  send_a_turn(socket_, connection_, now_);
  return !connection_.ended() && !stop_.at_once() && !ending_;
}

Duration Conversation::next_wait() const {
  auto due = connection_.deadline();
  if (due) due = lateness_.sleeps_until(*due);
  return wait_strategy_.next_wait(due, now_);
}

// Sleeps until input, room or a deadline has come, in recv if possible: SO_RCVTIMEO costs nothing, but is
// rounded to the kernel's ticks, so ppoll waits for nearer deadlines. splice has no MSG_DONTWAIT and would
// hold its pipe.
ReadResult Conversation::listen(Duration wait) {
  const bool reads = connection_.wants_input();
  const bool writes = connection_.has_output();
  const std::size_t for_file = reads ? file_input_.wanted(connection_) : 0;
  const bool blocking = reads && !writes && for_file == 0 && wait >= kTick;
  if (!blocking) {
    const int events = (reads ? POLLIN : 0) | (writes ? POLLOUT : 0);
    if (const ReadResult none = wait_for(static_cast<short>(events), wait); none.error != 0) return none;
  }
  if (for_file > 0)
    if (const auto n = file_input_.fill(socket_, for_file)) return ReadResult::filled(*n);
  const std::size_t most = std::min(buffer_.size(), hosting_.limits.read_bytes);
  const ssize_t n = ::recv(socket_, buffer_.data(), most, blocking ? 0 : MSG_DONTWAIT);
  if (n >= 0) return {std::span(buffer_).first(static_cast<std::size_t>(n)), 0};
  return {{}, errno};
}

// Returns without an error if the socket has input. While nothing is wanted from the peer, only a reset
// matters. After a reported hang-up the socket is left out, because it would end each further sleep at once.
ReadResult Conversation::wait_for(short events, Duration wait) {
  pollfd socket{.fd = socket_, .events = events, .revents = 0};
  const timespec timeout = to_timespec(std::min(wait, kTick));
  if (::ppoll(&socket, events == 0 && has_hung_up_ ? 0 : 1, &timeout, nullptr) < 0) {
    wait_failed(hosting_, "ppoll()");
    return {{}, EAGAIN};
  }
  if (wait == Duration::zero() && socket.revents == 0) ::sched_yield();  // other processes may need the core
  if ((events & POLLIN) != 0) return {{}, (socket.revents & ~POLLOUT) != 0 ? 0 : EAGAIN};
  if ((socket.revents & ~POLLOUT) != 0) has_hung_up_ = true;
  const int error = (socket.revents & POLLERR) != 0 ? connect_result(socket_) : 0;
  return {{}, error != 0 ? error : EAGAIN};
}

void run(const Hosting& hosting, Stop& stop) {
  const auto serve = [&](const Fd& socket, const std::atomic<bool>& ending) {
    Conversation(hosting, stop, ending, socket.get()).hold();
  };
  ParentProcess(hosting, stop, serve).run();
}

}  // namespace

extern const Engine kProcesses{
    .name = "processes",
    .summary = "a process for every connection, forked for it, blocking in recv",
    .dials = false,
    .separate_processes = true,
    .own_threads = true,
    .threads = "one process per connection",
    .not_public = "each connection takes a process, so strangers could leave none to other programs",
    .knobs = {},
    .unavailable = no_process_descriptors,
    .run = run,
};

}  // namespace joust
