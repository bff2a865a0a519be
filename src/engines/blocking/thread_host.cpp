// SPDX-License-Identifier: MIT
#include "engines/blocking/thread_host.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>

#include "base/check.hpp"
#include "base/system/sockets.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {
namespace {

constexpr Duration kRepeatNudge = std::chrono::milliseconds(5);

// The size of a stack. Only touched pages take memory, so this limits the depth of calls rather than the
// memory. The sanitizers' frames are several times as large.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kStackBytes = 2 << 20;
#else
constexpr std::size_t kStackBytes = 256 << 10;
#endif

// The signal that interrupts a thread. The program has no other use for it, and it is ignored where no
// handler is set. The handler does nothing: without SA_RESTART it ends the interrupted system call.
constexpr int kInterrupt = SIGURG;

void install_handler() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  checked(::sigaction(kInterrupt, &action, nullptr), "sigaction(SIGURG)");
}

void* run_body(void* argument) {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  sigset_t interrupt;  // programs that wait for signals block them all, and threads inherit the mask
  sigemptyset(&interrupt);
  sigaddset(&interrupt, kInterrupt);
  ::pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
  (*body)();
  return nullptr;
}

}  // namespace

template class LoopCore<HostedPeer>;

void SmallThread::start(std::function<void()> body) {
  [[maybe_unused]] static const bool installed = (install_handler(), true);
  pthread_attr_t attributes;
  checked_number(::pthread_attr_init(&attributes), "pthread_attr_init()");
  const auto destroy = [](pthread_attr_t* made) { ::pthread_attr_destroy(made); };
  const std::unique_ptr<pthread_attr_t, decltype(destroy)> owner(&attributes, destroy);
  checked_number(::pthread_attr_setstacksize(&attributes, kStackBytes), "pthread_attr_setstacksize({})",
                 kStackBytes);
  auto argument = std::make_unique<std::function<void()>>(std::move(body));
  pthread_t thread{};
  checked_number(::pthread_create(&thread, &attributes, run_body, argument.get()), "pthread_create()");
  argument.release();  // the thread owns it now
  thread_ = thread;
}

void SmallThread::interrupt() {
  if (thread_) ::pthread_kill(*thread_, kInterrupt);
}

void SmallThread::join() {
  if (thread_) ::pthread_join(*std::exchange(thread_, std::nullopt), nullptr);
}

// A connection and its threads.

ThreadedPeer::ThreadedPeer(ThreadHost& host, std::size_t threads)
    : host_(host), count_(threads), threads_(std::make_unique<SmallThread[]>(threads)) {}

ThreadedPeer::~ThreadedPeer() {
  enter(Stage::dismissed);
}

void ThreadedPeer::catch_up(Time now) {
  const Publications* const publications = host_.publications();
  if (publications == nullptr || publications->count() == seen_) return;
  seen_ = publications->count();
  connection->refresh(now);
}

void ThreadedPeer::break_off(const Failure& failure) noexcept {
  try {
    if (connection) return connection->failed(failure, Clock::now());
    host_.hosting().not_opened(failure, Clock::now());
  } catch (const std::exception&) {
    // The session threw again. The connection ends all the same, and has been counted.
  }
}

// Starts the threads that are missing: after a shortage some may be there.
void ThreadedPeer::start() {
  for (; present_ < count_; ++present_) threads_[present_].start([this, thread = present_] { run(thread); });
}

void ThreadedPeer::begin(HostedPeer& place) {
  place_ = &place;
  socket = std::move(place.socket);
  enter(Stage::begun);
}

// The first thread opens the connection; then all of them hold it. It may be over when another thread comes
// to run for the first time.
void ThreadedPeer::run(std::size_t thread) noexcept {
  if (await_beyond(Stage::spare) == Stage::dismissed) return;
  try {
    if (thread == 0) open();
    if (await_beyond(Stage::begun) == Stage::opened) hold(thread);
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex);
    break_off(failure_of(error));
  }
  leave();
}

void ThreadedPeer::open() {
  {
    const std::lock_guard lock(mutex);
    open_session(host_.hosting(), *this, Clock::now());
  }
  enter(Stage::opened);
}

// The last owner to leave closes the connection.
void ThreadedPeer::leave() noexcept {
  {
    const std::lock_guard lock(mutex);
    if (--present_ > 0) {
      stage_ = Stage::over;
      entered_.notify_all();
      return release_others();
    }
    connection.reset();
    socket.close();
  }
  host_.left(*place_);
}

// Waits until the peer is beyond this stage, and returns the stage that has followed.
ThreadedPeer::Stage ThreadedPeer::await_beyond(Stage stage) {
  std::unique_lock lock(mutex);
  entered_.wait(lock, [&] { return stage_ > stage; });
  return stage_;
}

void ThreadedPeer::enter(Stage stage) {
  const std::lock_guard lock(mutex);
  stage_ = stage;
  entered_.notify_all();
}

// The host.

ThreadHost::ThreadHost(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore(hosting, stop, group, index),
      publications_(hosting.service.publications()),
      pipes_(hosting.tally) {}

ThreadHost::~ThreadHost() {
  draining_ = ending_ = true;
  read_clock();
  for (const auto& peer : peers())
    if (peer->dial.in_progress)
      leave(*peer);
    else if (!peer->leaving)
      nudge(*peer);
  for (sweep(); !peers().empty(); sweep()) {
    pollfd ended{.fd = inbox().waker().fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, 1) < 0) pause_for_shortage();
    read_clock();
    inbox().waker().clear();
    while (Peer* const peer = ended_.pop()) leave(*peer);
    repeat_nudges();
  }
}

void ThreadHost::left(Peer& peer) noexcept {
  ended_.push(peer);
  inbox().waker().wake();
}

// A peer is accepted, and a connect begins, only when threads wait for it. While no threads can be started,
// peers wait in the accept queue, as they do when descriptors run out.
std::optional<Failure> ThreadHost::shortage() {
  try {
    spare_ = take_spare();
    return std::nullopt;
  } catch (const std::exception& error) {
    return failure_of(error);
  }
}

std::unique_ptr<ThreadedPeer> ThreadHost::take_spare() {
  if (!spare_) spare_ = make();
  spare_->start();
  return std::move(spare_);
}

void ThreadHost::start_dials() {
  LoopCore::start_dials(SOCK_NONBLOCK);
}

void ThreadHost::connect(Peer& peer) {
  if (!peer.threads) peer.threads = take_spare();
  const Endpoint& to = endpoint_of(peer);
  const int error = ::connect(peer.socket.get(), to.raw(), to.size) == 0 ? 0 : errno;
  if (error != EINPROGRESS) return finish_dial(peer, error);
  watch(peer, POLLOUT);
}

// Only peers that connect are watched.
void ThreadHost::ready_peer(Peer& peer, unsigned /*events*/, int /*error*/) {
  if (!peer.leaving) guarded(peer, [&] { finish_dial(peer, connect_result(peer.socket.get())); });
}

// A listener is non-blocking, because a peer may leave before accept4. The accepted socket is blocking.
void ThreadHost::ready_listener(const Listener& listener) {
  accept_peers(listener, 0);
}

void ThreadHost::tell(Peer& peer, News news) {
  switch (news) {
    case News::established:
      return begin(peer);
    case News::published:
      if (!peer.threads->pass_publications()) nudge(peer);
      return;
    case News::stop:
      return nudge(peer);
    case News::deadline:  // of its dial, which is over
      return;
  }
}

// Passes the connection to its threads, which block in its calls.
void ThreadHost::begin(Peer& peer) {
  if (!peer.threads) peer.threads = take_spare();
  if (peer.dial.connected) {
    let_go(peer);
    checked(::fcntl(peer.socket.get(), F_SETFL, 0), "fcntl(F_SETFL)");
  }
  peer.threads->begin(peer);
}

void ThreadHost::nudge(Peer& peer) {
  peer.threads->nudged = true;
  peer.threads->rouse();
  nudge_again_ = std::min(nudge_again_, now() + kRepeatNudge);
}

void ThreadHost::repeat_nudges() {
  if (now() < nudge_again_) return;
  nudge_again_ = Time::max();
  for (const auto& peer : peers())
    if (peer->threads && peer->threads->nudged) nudge(*peer);
}

// --wait is for the threads of the connections.
Duration ThreadHost::next_wait() const {
  const Time next = std::min(due().value_or(Time::max()), nudge_again_);
  return std::clamp<Duration>(next - now(), Duration::zero(), WaitStrategy::kForever);
}

void ThreadHost::finish_turn() {
  while (Peer* const peer = ended_.pop()) leave(*peer);  // sweep() joins the threads
  fire_deadlines();
  if (!pass_publications()) ::sched_yield();  // lets other threads publish
  repeat_nudges();
  if (is_stopping() && !draining_) {
    end_accepting(0);
    draining_ = true;
    spare_.reset();
    begin_drain();
  }
  sweep();
}

}  // namespace joust
