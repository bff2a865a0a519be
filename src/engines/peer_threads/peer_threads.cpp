// SPDX-License-Identifier: MIT
#include "engines/peer_threads/peer_threads.hpp"

#include <poll.h>
#include <sched.h>

#include <csignal>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

#include "base/check.hpp"
#include "engines/loop/loops.hpp"
#include "engines/loop/open_session.hpp"
#include "net/address.hpp"

namespace joust {
namespace {

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
namespace {

constexpr Duration kRepeatNudge = std::chrono::milliseconds(5);

}  // namespace

ThreadedPeer::ThreadedPeer(PeerThreads& peer_threads, std::size_t threads)
    : peer_threads_(peer_threads), count_(threads), threads_(std::make_unique<SmallThread[]>(threads)) {}

void ThreadedPeer::catch_up(Time now) {
  const Publications* const publications = peer_threads_.publications();
  if (publications == nullptr || publications->count() == seen_) return;
  seen_ = publications->count();
  connection->refresh(now);
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

PeerThreads::PeerThreads(const Hosting& hosting, MakePeer make, std::function<void(ThreadedPeer&)> connect)
    : hosting_(hosting),
      make_(std::move(make)),
      connect_(std::move(connect)),
      publications_(hosting.service.publications()) {
  if (publications_ != nullptr) publications_->subscribe(waker_);
}

PeerThreads::~PeerThreads() {
  end_at_once();
  while (!peers_.empty() || !spare_.empty()) {
    pollfd ended{.fd = waker_.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, 1) < 0) pause_for_shortage();
    now_ = Clock::now();
    waker_.clear();
    join_ended();
    repeat_nudges();
  }
  if (publications_ != nullptr) publications_->unsubscribe(waker_);
}

std::optional<Failure> PeerThreads::prepare() noexcept {
  try {
    if (!spare_.empty() && !spare_.back()->is_dismissed_) return std::nullopt;
    ThreadedPeer& peer = *spare_.emplace_back(make_(*this));
    peer.self_ = std::prev(spare_.end());
    for (std::size_t i = 0; i < peer.count_; ++i) {
      peer.threads_[i].start([this, &peer, i] { run_thread(peer, i); });
      ++peer.present_;
    }
    return std::nullopt;
  } catch (const std::exception& error) {
    dismiss_spare();
    return failure_of(error);
  }
}

// Ends the threads that were already started for the spare peer. It stays in its list until they have ended.
void PeerThreads::dismiss_spare() {
  if (spare_.empty() || spare_.back()->is_dismissed_) return;
  if (spare_.back()->present_ == 0) return spare_.pop_back();
  spare_.back()->is_dismissed_ = true;
  spare_.back()->enter(ThreadedPeer::Stage::over);
}

void PeerThreads::start(Fd socket, Time dial_until) {
  ThreadedPeer& peer = *spare_.back();
  peers_.splice(peers_.end(), spare_, peer.self_);
  peer.socket = std::move(socket);
  peer.dial_until = dial_until;
  peer.enter(ThreadedPeer::Stage::begun);
}

// The first thread opens the connection; then all of them hold it.
void PeerThreads::run_thread(ThreadedPeer& peer, std::size_t thread) noexcept {
  using enum ThreadedPeer::Stage;
  try {
    const bool is_open =
        thread == 0 ? peer.await_beyond(spare) == begun && open(peer) : peer.await_beyond(begun) == opened;
    if (is_open) peer.hold(thread);
  } catch (const std::exception& error) {
    const std::lock_guard lock(peer.mutex);
    break_off(peer, failure_of(error));
  }
  leave(peer);
}

// Returns false if a dial has failed.
bool PeerThreads::open(ThreadedPeer& peer) {
  if (!peer.socket.is_open()) connect_(peer);
  if (!peer.socket.is_open()) return false;
  {
    const std::lock_guard lock(peer.mutex);
    open_session(hosting_, peer, Clock::now());
  }
  peer.enter(ThreadedPeer::Stage::opened);
  return true;
}

// The last owner to leave closes the connection.
void PeerThreads::leave(ThreadedPeer& peer) noexcept {
  {
    const std::lock_guard lock(peer.mutex);
    if (--peer.present_ > 0) {
      peer.stage_ = ThreadedPeer::Stage::over;
      peer.entered_.notify_all();
      return peer.release_others();
    }
    peer.connection.reset();
    peer.socket.close();
  }
  {
    const std::lock_guard lock(mutex_);
    peer.ended_before_ = std::exchange(ended_last_, &peer);
  }
  waker_.wake();
}

void PeerThreads::break_off(ThreadedPeer& peer, const Failure& failure) noexcept {
  try {
    if (peer.connection) return peer.connection->failed(failure, Clock::now());
    hosting_.not_opened(failure, Clock::now());
  } catch (const std::exception&) {
    // The session threw again. The connection ends all the same, and has been counted.
  }
}

// Handles a failed ppoll(). A signal counts as an event, because it may be a nudge.
void PeerThreads::wait_failed() const {
  joust::wait_failed(hosting_, "ppoll()");
}

bool PeerThreads::will_speak() const {
  return publications_ != nullptr && publications_->count() != told_;
}

std::optional<Time> PeerThreads::due() const {
  return broadcast_delay_.is_postponing() ? std::optional(now_) : nudge_again_;
}

void PeerThreads::attend(Time now) {
  now_ = now;
  waker_.clear();
  join_ended();
  pass_publications();
  repeat_nudges();
}

void PeerThreads::join_ended() {
  ThreadedPeer* ended = nullptr;
  {
    const std::lock_guard lock(mutex_);
    ended = std::exchange(ended_last_, nullptr);
  }
  while (ended != nullptr) {
    const auto self = ended->self_;
    auto& its_list = ended->is_dismissed_ ? spare_ : peers_;
    ended = ended->ended_before_;
    its_list.erase(self);  // joins its threads
  }
}

void PeerThreads::pass_publications() {
  if (!will_speak()) return;
  const std::uint64_t count = publications_->count();
  if (hosting_.serves() && broadcast_delay_.postpones(now_, count, peers_.size())) {
    ::sched_yield();  // lets other threads publish
    return;
  }
  told_ = count;
  for (const auto& peer : peers_)
    if (!peer->pass_publications(now_)) nudge(*peer);
}

void PeerThreads::nudge(ThreadedPeer& peer) {
  peer.nudged = true;
  peer.rouse();
  if (!nudge_again_) nudge_again_ = now_ + kRepeatNudge;
}

void PeerThreads::nudge_all() {
  for (const auto& peer : peers_) nudge(*peer);
}

void PeerThreads::repeat_nudges() {
  if (!nudge_again_ || now_ < *nudge_again_) return;
  nudge_again_.reset();
  for (const auto& peer : peers_)
    if (peer->nudged) nudge(*peer);
}

void PeerThreads::drain() {
  draining_ = true;
  dismiss_spare();
  nudge_all();
}

void PeerThreads::end_at_once() {
  if (!ending_.exchange(true)) drain();
}

}  // namespace joust
