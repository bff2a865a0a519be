// SPDX-License-Identifier: MIT
#include "engines/zeromq/loop.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "connection/tally.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/zeromq/sockets.hpp"

namespace joust {

template class LoopCore<ZmqPeer>;

namespace {

using std::chrono::milliseconds;

// During a stop, how long no message must have come, because messages that have arrived may still be with the
// library's threads; and the limit of that wait.
constexpr Duration kQuiet = milliseconds(10);
constexpr Duration kMostUnquiet = milliseconds(100);

// The messages of a turn: received by a client's link, received by a server's link, and sent.
constexpr std::size_t kMostOfOne = 64, kMostOfAll = 1024, kMostSends = 4096;

}  // namespace

ZmqLoop::ZmqLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
                 const ZmqContext& context, std::optional<ZmqSocket> server, ZmqLink::Kind kind,
                 std::optional<ZmqSocket> commands)
    : LoopCore(hosting, stop, group, index),
      context_(context),
      table_key_(random_key()),
      admission_(random_key()) {
  epoll_.control(EPOLL_CTL_ADD, stop.fd(), EPOLLIN, &stop);
  epoll_.control(EPOLL_CTL_ADD, inbox().waker().fd(), EPOLLIN, &inbox());
  if (server) begin(server_.emplace(std::move(*server), kind, table_key_));
  if (commands) begin(commands_.emplace(std::move(*commands), ZmqLink::Kind::commands, table_key_));
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
  if (server_ && has_work(*server_)) busy_.push(*server_);  // a peer that was awaited may have gone
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
  const bool one_way = link.kind != ZmqLink::Kind::router;
  if (!one_way) retry_blocked(link);
  if (!link.looked_at || !link.writable) {
    const unsigned events = link.socket.events();
    link.looked_at = true;
    link.input = (events & ZMQ_POLLIN) != 0;
    if (one_way) link.writable = (events & ZMQ_POLLOUT) != 0;
  }
  if (has_work(link)) busy_.push(link);
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

// The coroutines of a link. When an awaitable is resumed, it makes its calls; when neither coroutine can go
// on, the thread returns to the loop.

// Waits until the library has a message; then receives one message. Output is sent first, so that each
// message is answered before the next one is read.
class ZmqLoop::Arrival : public Waiter::Awaitable {
 public:
  Arrival(ZmqLoop& loop, ZmqLink& link) : Awaitable(link.arrival), loop_(loop), link_(link) {}
  bool await_ready() const { return link_.may_receive() && link_.receives_left > 0 && !sender_may_go_on(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> receiver) {
    Awaitable::await_suspend(receiver);
    return sender_may_go_on() ? link_.departure.take() : std::noop_coroutine();
  }
  Found await_resume() {
    const Found found = receive_message(link_);
    if (found != Found::nothing && loop_.stopping_)
      loop_.quiet_at_ = std::min(loop_.now() + kQuiet, loop_.quiet_at_last_);
    return found;
  }

 private:
  bool sender_may_go_on() const {
    return link_.departure.is_waited_at() && link_.sends_left > 0 && link_.may_send();
  }

  ZmqLoop& loop_;
  ZmqLink& link_;
};

// Waits until a session has output and the library has room. The receiver goes on meanwhile, if it can.
class ZmqLoop::Departure : public Waiter::Awaitable {
 public:
  explicit Departure(ZmqLink& link) : Awaitable(link.departure), link_(link) {}
  bool await_ready() const { return link_.sends_left > 0 && link_.may_send(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> sender) {
    Awaitable::await_suspend(sender);
    const bool receiver_may_go_on = link_.may_receive() && link_.receives_left > 0;
    return receiver_may_go_on ? link_.arrival.take() : std::noop_coroutine();
  }

 private:
  ZmqLink& link_;
};

Task<> ZmqLoop::receive(ZmqLink& link) {
  while (true) {
    const Found found = co_await Arrival(*this, link);
    if (found == Found::message)
      received(link);
    else if (found == Found::command)
      obey(link.parts[0].bytes());
    else if (found == Found::foreign)
      hosting().tally.add({.foreign = 1});
  }
}

Task<> ZmqLoop::send(ZmqLink& link) {
  while (true) {
    co_await Departure(link);
    send_next(link);
  }
}

// Receives a message. Its parts come together. Parts that do not belong in it are passed over.
ZmqLoop::Found ZmqLoop::receive_message(ZmqLink& link) {
  --link.receives_left;
  std::size_t count = 0;
  bool more = true;
  while (more) {
    ZmqPart superfluous;
    ZmqPart& part = count < link.parts.size() ? link.parts[count] : superfluous;
    if (const int error = receive_part(link.socket, part); error == EAGAIN) {
      link.input = false;
      link.looked_at = true;
      return Found::nothing;
    } else if (error != 0) {
      throw std::system_error(error, std::generic_category(), "zmq_msg_recv()");
    }
    link.looked_at = false;
    more = part.more_follow();
    ++count;
  }
  if (link.kind == ZmqLink::Kind::commands) return Found::command;
  const std::size_t expected = link.kind == ZmqLink::Kind::dealer ? 1 : 2;
  return count == expected ? Found::message : Found::foreign;
}

void ZmqLoop::begin(ZmqLink& link) {
  link.receiver = receive(link);
  link.sender = send(link);
  link.sender.start();
  link.receiver.start();
  watch(link);
  busy_.push(link);
}

// Resumes one of the two coroutines, which resumes the other.
void ZmqLoop::resume(ZmqLink& link) {
  const bool is_server = link.only == nullptr;
  link.receives_left = is_server ? kMostOfAll : kMostOfOne;
  link.sends_left = kMostSends;
  if (link.may_send())
    link.departure.resume();
  else if (link.may_receive())
    link.arrival.resume();
  link.receiver.surface();
  link.sender.surface();
}

}  // namespace joust
