// SPDX-License-Identifier: MIT
#include "engines/zeromq/loop.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "connection/tally.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/zeromq/sockets.hpp"
#include "net/listener.hpp"

namespace joust {

template class LoopCore<ZmqPeer>;

namespace {

using std::chrono::milliseconds;

// During a stop, how long no message must have come, because messages that have arrived may still be with the
// library's threads; and the limit of that wait.
constexpr Duration kQuiet = milliseconds(10);
constexpr Duration kMostUnquiet = milliseconds(100);

}  // namespace

ZmqLoop::ZmqLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
                 const ZmqContext& context)
    : LoopCore(hosting, stop, group, index),
      context_(context),
      table_key_(random_key()),
      admission_(random_key()) {
  epoll_.control(EPOLL_CTL_ADD, stop.fd(), EPOLLIN, &stop);
  epoll_.control(EPOLL_CTL_ADD, inbox().waker().fd(), EPOLLIN, &inbox());
  if (hosting.serves()) begin(server_.emplace(router_for(hosting, context, index), table_key_));
  if (index == 0) note_options_left_out(hosting);
}

// At an immediate end the sockets do not linger.
ZmqLoop::~ZmqLoop() {
  if (server_ && stop().at_once()) server_->socket.set(ZMQ_LINGER, 0);
  for (const auto& peer : peers())
    if (peer->own) peer->own->socket.set(ZMQ_LINGER, 0);
}

// The turn of the loop.

void ZmqLoop::run() {
  while (!over()) {
    wait();
    serve_links();
    finish_turn();
    serve_links();
    sweep();
  }
}

void ZmqLoop::wait() {
  start_dials(SOCK_NONBLOCK);
  if (server_ && (server_->input || server_->may_send()))
    busy_.push(*server_);  // a peer that was awaited may have gone
  Duration most = busy_.empty() ? next_wait() : Duration::zero();
  const auto wait_until = [&](Time then) { most = std::clamp(then - now(), Duration::zero(), most); };
  if (stopping_ && !draining() && may_drain()) wait_until(quiet_at_);
  if (server_ && server_->is_blocked()) wait_until(server_->retry_at);
  for (const epoll_event& event : epoll_.first(woken(epoll_.wait(most, hosting().tally), "epoll_pwait2()"))) {
    void* const tag = event.data.ptr;
    if (tag == &stop()) {
      stopping_ = true;
      quiet_at_ = now() + kQuiet;
      quiet_at_last_ = now() + kMostUnquiet;
      epoll_.control(EPOLL_CTL_DEL, stop().fd(), 0, nullptr);  // it stays readable
    } else if (tag == &inbox()) {
      admit_dealt();  // no peer is dealt here: only clears the waker
    } else {
      ZmqLink& link = *static_cast<ZmqLink*>(tag);
      link.input = link.signalled = true;
      busy_.push(link);
    }
  }
}

void ZmqLoop::serve_links() {
  if (server_ && server_->is_blocked() && server_->may_retry(now())) busy_.push(*server_);
  Queue<ZmqLink> busy;
  busy.take_all(busy_);
  while (ZmqLink* const link = busy.pop()) {
    resume(*link);
    settle(*link);
  }
}

// Called after a link was used. The link is served again in the next turn if it has more to do; otherwise its
// descriptor will report it.
void ZmqLoop::settle(ZmqLink& link) {
  if (link.is_server()) retry_blocked(link);
  if (!link.looked_at || !link.writable) {
    const unsigned events = link.socket.events();
    link.looked_at = true;
    link.input = (events & ZMQ_POLLIN) != 0;
    if (!link.is_server()) link.writable = (events & ZMQ_POLLOUT) != 0;
  }
  if (link.input || link.may_send()) busy_.push(link);
}

void ZmqLoop::retry_blocked(ZmqLink& link) {
  const bool due = link.may_retry(now());
  link.signalled = false;
  if (!link.is_blocked() || !due) return;
  link.tried_at = now();
  link.retry_pause = std::clamp(2 * link.retry_pause, kFirstRetry, kLongestRetry);
  link.talkers.take_all(link.blocked);
  std::ranges::move(link.put_off, std::back_inserter(link.replies));
  link.put_off.clear();
  resume(link);
}

// Call it before the first peer or answer is blocked.
void ZmqLoop::retry_later(ZmqLink& link) {
  if (!link.is_blocked()) link.retry_at = now() + std::max(link.retry_pause, kFirstRetry);
}

void ZmqLoop::finish_turn() {
  fire_deadlines();
  pass_publications();
  if (stopping_) stop_by_and_by();
  // Peers that only wait for a repeated question do not keep the loop from ending.
  const bool ends = draining() || !hosting().serves();
  if (ends && lingering_ > 0 && lingering_ == peers().size())
    for (const auto& peer : peers()) leave(*peer);
}

void ZmqLoop::stop_by_and_by() {
  if (draining()) return;
  end_admitting();
  if (may_drain() && now() >= quiet_at_) begin_drain();
}

// Messages that have arrived may still be with the library's threads: a stop waits until none has come for a
// while.
void ZmqLoop::note_arrival() {
  if (stopping_) quiet_at_ = std::min(now() + kQuiet, quiet_at_last_);
}

void ZmqLoop::begin(ZmqLink& link) {
  link.receiver = receive(link);
  link.sender = send(link);
  link.sender.start();
  link.receiver.start();
  watch(link);
  busy_.push(link);
}

void run_zeromq(const Hosting& hosting, Stop& stop) {
  const auto frames = TaskFrames::alive();
  const ZmqContext context = context_for(hosting);
  run_loops<ZmqLoop>(hosting, stop, context);
  for (Listener* const listener : hosting.listeners) listener->close();  // resets peers in the accept queue
  if (TaskFrames::alive() != frames) throw std::logic_error("zeromq: frames are left");
}

}  // namespace joust
