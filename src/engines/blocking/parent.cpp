// SPDX-License-Identifier: MIT
// Needs Linux.
#include "engines/blocking/parent.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <utility>

#include "base/check.hpp"
#include "base/limits.hpp"
#include "base/signals.hpp"
#include "base/system/events.hpp"
#include "base/system/process.hpp"
#include "connection/tally.hpp"
#include "engines/loop/loops.hpp"
#include "engines/loop/waiting.hpp"

namespace joust {
namespace {

constexpr Duration kFirstInterrupt = std::chrono::milliseconds(1);
constexpr Duration kLastInterrupt = std::chrono::milliseconds(50);
constexpr Duration kKillAfter = std::chrono::milliseconds(500);  // for children that must end at once
constexpr std::string_view kPaused =
    "accepting paused: out of descriptors, memory or processes, or at the connection limit";

}  // namespace

void signal_process(const Fd& process, int number) {
  ::syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0);  // fails if the process has ended
}

std::string no_process_descriptors() {
  return open_process(::getpid()).is_open() ? "" : "pidfd_open is refused here (Linux 5.3 has it)";
}

void take_childs_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::sigaction(number, &action, nullptr);
  action.sa_handler = [](int) {};  // without SA_RESTART: it ends the system call
  ::sigaction(kInterruptChild, &action, nullptr);
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_SETMASK, &pipe, nullptr);
}

ParentProcess::ParentProcess(const Hosting& hosting, Stop& stop, Serve serve, Prepare prepare)
    : hosting_(hosting),
      stop_(stop),
      serve_(std::move(serve)),
      prepare_(std::move(prepare)),
      listeners_(hosting.listeners) {
  if (prepare_) prepared_.emplace();
}

// Ends all. After an exception, peers in the accept queue would otherwise wait for ever, and children would
// go on.
ParentProcess::~ParentProcess() {
  for (Listener* const listener : listeners_) listener->close();
  kill_children();
  for (const Child& child : children_) reap(child);
}

void ParentProcess::run() {
  const SigpipeBlock block;  // for send_file(), in all children
  struct sigaction child {};
  if (::sigaction(SIGCHLD, nullptr, &child) == 0 && child.sa_handler == SIG_IGN)
    hosting_.tally.note("SIGCHLD is ignored: connections whose process crashes are not counted as failed");
  hosting_.ready();
  while (!over()) {
    wait();
    reap_ended();
    accept_from_ready();
    if (stop_.requested() && !drain_by_) begin_drain();
    if ((stop_.at_once() || (drain_by_ && now_ >= *drain_by_)) && !kill_at_) end_children();
    if (kill_at_ && now_ >= *kill_at_) kill_children();
    if (drain_by_ && now_ >= interrupt_again_) interrupt_children();
  }
}

void ParentProcess::wait() {
  Time until =
      drain_by_ ? interrupt_again_ : now_ + WaitStrategy::kForever;  // a second stop is seen then too
  if (accept_again_) until = std::min(until, *accept_again_);
  const timespec timeout = to_timespec(std::max(Duration::zero(), until - Clock::now()));
  events_.clear();  // ppoll ignores negative descriptors
  events_.push_back({.fd = drain_by_ ? -1 : stop_.fd(), .events = POLLIN, .revents = 0});
  for (const Listener* listener : listeners_)
    events_.push_back({.fd = accept_again_ ? -1 : listener->fd(), .events = POLLIN, .revents = 0});
  for (const Child& child : children_)
    events_.push_back({.fd = child.process.get(), .events = POLLIN, .revents = 0});
  if (::ppoll(events_.data(), events_.size(), &timeout, nullptr) < 0) {
    wait_failed(hosting_, "ppoll()");
    for (pollfd& event : events_) event.revents = 0;
  }
  now_ = Clock::now();
  if (accept_again_ && now_ >= *accept_again_) accept_again_.reset();
}

// Reaps in a loop, because several children may end at the same time. The last child takes the place of one
// that is gone.
void ParentProcess::reap_ended() {
  const std::size_t first = 1 + listeners_.size();
  const std::size_t before = children_.size();
  for (std::size_t i = children_.size(); i-- > 0;) {
    if (events_[first + i].revents == 0) continue;
    reap(children_[i]);
    children_[i] = std::move(children_.back());
    children_.pop_back();
  }
  if (hosting_.room(before) == 0 && children_.size() < before) accept_again_.reset();
}

// A crash ends one connection, and is counted like any failure on this side.
void ParentProcess::reap(const Child& child) {
  siginfo_t end{};
  const int result =
      retry_interrupted([&] { return ::waitid(P_PID, static_cast<id_t>(child.pid), &end, WEXITED); });
  const bool by_itself = end.si_code == CLD_EXITED;
  const bool told_to_end = kill_at_ && end.si_status == SIGKILL;
  if (result < 0 || told_to_end || (by_itself && end.si_status == 0)) return;
  hosting_.tally.failed({Stage::local, 0,
                         fmt::format("the process of the connection was ended by {} {}",
                                     by_itself ? "exit code" : "signal", end.si_status)});
}

void ParentProcess::accept_from_ready() {
  if (waiting_.is_open() && !accept_again_ && !start_child()) return;
  for (std::size_t i = 0; i < listeners_.size() && !accept_again_; ++i)
    if (events_[1 + i].revents != 0) accept_peers(*listeners_[i]);
}

void ParentProcess::accept_peers(const Listener& listener) {
  for (unsigned i = 0; i < hosting_.limits.accepts_per_turn; ++i) {
    const bool room = hosting_.room(children_.size()) > 0;
    Accepted accepted = room ? listener.accept(0) : Accepted{AcceptOutcome::busy, {}};
    if (accepted.outcome == AcceptOutcome::none) return;
    if (accepted.outcome == AcceptOutcome::busy) {
      pause_accepting();
      return;
    }
    waiting_ = std::move(accepted.socket);
    if (!start_child()) return;
  }
}

// Starts a child for the waiting connection. Returns false if no process can be made now: the connection
// waits, and so do the peers in the queue. The child begins at once, so what the parent needs is made before
// the fork: `place` reserves a descriptor, and the descriptor of the child then takes its place. What the
// child needs is made before the parent gives up the connection.
bool ParentProcess::start_child() {
  if (children_.size() == children_.capacity()) children_.reserve(2 * children_.size() + 16);
  Fd place(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!place.is_open()) return pause_accepting();
  const pid_t parent = ::getpid();
  pid_t pid = 0;
  *preparation_ = Preparation::under_way;
  {
    const SignalsBlocked blocked;
    pid = ::fork();
    if (pid == 0) {
      place.close();
      become_child(parent);
    }
  }
  if (pid < 0) return pause_accepting();
  place.close();
  children_.push_back({pid, open_process(pid)});
  const int error = errno;
  if (!await_prepared(children_.back())) {
    reap(children_.back());
    children_.pop_back();
    return pause_accepting();
  }
  waiting_.close();  // it belongs to the child now
  if (children_.back().process.is_open()) return true;
  // The kernel has reaped the child already, as it does while SIGCHLD is ignored. Or another thread of the
  // program has taken the reserved descriptor, and the child cannot be watched.
  if (error != ESRCH) {
    ::kill(pid, SIGKILL);
    hosting_.tally.failed({Stage::local, error, "the process of a connection"});
  }
  retry_interrupted([&] { return ::waitpid(pid, nullptr, 0); });
  children_.pop_back();
  return true;
}

// Waits until the child has ended its preparation. Returns false if a resource was short. Returns true for a
// child that has crashed, because the connection is lost with it.
bool ParentProcess::await_prepared(const Child& child) {
  if (!prepare_) return true;
  bool has_ended = !child.process.is_open();
  while (*preparation_ == Preparation::under_way && !has_ended) {
    std::array<pollfd, 2> events{{{.fd = prepared_->fd(), .events = POLLIN, .revents = 0},
                                  {.fd = child.process.get(), .events = POLLIN, .revents = 0}}};
    const int result = ::ppoll(events.data(), events.size(), nullptr, nullptr);
    if (result < 0) wait_failed(hosting_, "ppoll()");
    if (result > 0 && events[0].revents != 0) prepared_->clear();  // perhaps the event of the child before
    has_ended = result > 0 && events[1].revents != 0;
  }
  return *preparation_ != Preparation::short_of_something;
}

bool ParentProcess::pause_accepting() {
  hosting_.tally.note(kPaused);
  accept_again_ = now_ + hosting_.limits.accept_pause;
  return false;
}

// Counts the waiting connection as not opened. The stop does not wait until a process can be made.
void ParentProcess::give_up_waiting() {
  hosting_.not_opened({Stage::local, EAGAIN, "no process for the connection"}, now_);
  waiting_.close();
}

// The work of the child: serves the waiting connection, and ends without the parent's destructors and output
// buffers.
void ParentProcess::become_child(pid_t parent) {
  end_with_parent();
  if (::getppid() != parent) ::_exit(0);  // the parent died before that
  take_childs_signals();
  for (const Listener* listener : hosting_.listeners) ::close(listener->fd());
  children_.clear();  // this process's copies of the descriptors
  try {
    if (prepare_) prepare();
    serve_(std::move(waiting_), *ending_);
  } catch (const std::exception& error) {
    hosting_.not_opened(failure_of(error), Clock::now());
  }
  ::_exit(0);
}

// Runs the engine's preparation in the child, and reports the result to the parent.
void ParentProcess::prepare() {
  try {
    prepare_(waiting_.get());
    *preparation_ = Preparation::complete;
  } catch (const std::exception& error) {
    const int reason = failure_of(error).error;
    const bool passes = reason == EAGAIN || is_shortage(reason);
    *preparation_ = passes ? Preparation::short_of_something : Preparation::complete;
    prepared_->raise();
    if (passes) ::_exit(0);
    throw;
  }
  prepared_->raise();
}

void ParentProcess::begin_drain() {
  interrupt_after_ = kFirstInterrupt;
  if (waiting_.is_open() && !start_child()) give_up_waiting();
  drain_by_ = now_ + hosting_.limits.drain;
  interrupt_again_ = now_;
  for (Listener* listener : std::exchange(listeners_, {})) {
    const auto take = [this](Fd socket) {
      if (stop_.at_once()) return;
      waiting_ = std::move(socket);
      if (!start_child()) give_up_waiting();
    };
    if (!listener->take_queued(0, hosting_.room(children_.size()), *drain_by_, take))
      hosting_.tally.note(kLeftInQueue);
    listener->close();
  }
}

// Called when the drain limit has passed. Sessions still end in order, because an upload that was begun has
// to be removed.
void ParentProcess::end_children() {
  *ending_ = true;
  kill_at_ = now_ + kKillAfter;
  interrupt_again_ = now_;
  interrupt_after_ = kFirstInterrupt;
}

// Children that were just about to sleep miss this signal, and detect the stop at the next one.
void ParentProcess::interrupt_children() {
  for (const Child& child : children_) signal_process(child.process, kInterruptChild);
  interrupt_again_ = now_ + interrupt_after_;
  interrupt_after_ = std::min(2 * interrupt_after_, kLastInterrupt);
}

void ParentProcess::kill_children() {
  for (const Child& child : children_) signal_process(child.process, SIGKILL);
}

}  // namespace joust
