// SPDX-License-Identifier: MIT
#include "engines/zeromq/front.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/endian.hpp"
#include "connection/datagram.hpp"
#include "connection/tally.hpp"
#include "engines/zeromq/sockets.hpp"
#include "net/stop.hpp"

namespace joust {
namespace {

// The messages of one socket before the other sockets get their turn.
constexpr std::size_t kQuota = 256;

// The limit of the bytes held for one peer, besides the library's own queue. Beyond it, the peer's connection
// ends. Sessions do not get there: see ZmqPeer::unconfirmed.
constexpr std::size_t kMostHeld = 4 << 20;
constexpr std::size_t kHeldBesides = kBesidesDatagram;

[[noreturn]] void fail(int error, const char* call) {
  throw std::system_error(error, std::generic_category(), call);
}

// Returns false for an answer to a stranger, or to a peer whose connection has failed already.
bool is_of_session(Bytes bytes) {
  const auto datagram = parse_datagram(bytes);
  if (!datagram) return false;
  const DatagramKind kind = datagram->head.kind;
  return kind == DatagramKind::data || kind == DatagramKind::leave ||
         (kind == DatagramKind::left && !datagram->head.unknown);
}

}  // namespace

ZmqFront::ZmqFront(const Hosting& hosting, Stop& stop, const ZmqContext& context)
    : hosting_(hosting), stop_(stop), router_(router_for(hosting, context)), key_(random_key()) {
  for (std::size_t i = 0; i < hosting.options.threads; ++i) workers_.emplace_back(context, i);
  thread_ = std::jthread([this] { run(); });
}

ZmqFront::Worker::Worker(const ZmqContext& context, std::size_t number)
    : pair(pair_for(context, number, Way::messages, End::owner)),
      command_pair(pair_for(context, number, Way::commands, End::owner)) {}

ZmqFront::~ZmqFront() {
  finishing_ = true;
  waker_.wake();
}

void ZmqFront::worker_ends(std::size_t worker) {
  workers_[worker].has_ended = true;
  waker_.wake();
}

void ZmqFront::finish() {
  finishing_ = true;
  waker_.wake();
  thread_.join();
  if (stop_.at_once()) router_.set(ZMQ_LINGER, 0);
  if (error_) std::rethrow_exception(error_);
}

void ZmqFront::run() {
  try {
    std::optional<Time> until;  // the limit for peers to take what is held for them
    while (true) {
      const bool last = finishing_;  // if set, the workers had left all their messages before
      if (turn()) continue;
      if (last && !until) until = Clock::now() + linger_of(hosting_);
      if (last && (held_.empty() || stop_.at_once() || Clock::now() >= *until)) return drop_held();
      if (!has_events()) sleep();
    }
  } catch (const std::exception&) {
    error_ = std::current_exception();
    stop_.request();
    stop_.request();
  }
}

// Returns true if anything was passed on.
bool ZmqFront::turn() {
  bool moved = !finishing_ && pass_in();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    moved |= flush_commands(workers_[i]);
    moved |= pass_out(i);
  }
  if (!held_.empty() && Clock::now() >= retry_at_) moved |= pass_held();
  return moved;
}

// From the ROUTER to the workers.

bool ZmqFront::pass_in() {
  bool moved = false;
  for (std::size_t i = 0; i < kQuota; ++i) {
    if (!incoming_ && !take_in()) break;
    if (incoming_ && !give(*incoming_)) break;
    incoming_.reset();
    moved = true;
  }
  return moved;
}

// Returns false if no message has come. A message that does not have two parts is foreign.
bool ZmqFront::take_in() {
  Message message;
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    ZmqPart superfluous;
    ZmqPart& part = count == 0 ? message.identity : count == 1 ? message.datagram : superfluous;
    const int error = receive_part(router_, part);
    if (error == EAGAIN) return false;
    if (error != 0) fail(error, "zmq_msg_recv()");
    more = part.more_follow();
  }
  if (count != 2) {
    hosting_.tally.add({.foreign = 1});
    return true;
  }
  if (!std::exchange(has_heard_, true)) equip_source(hosting_, message.datagram);
  incoming_ = std::move(message);
  return true;
}

// Returns false if the worker's queue is full. The second part of a message always has room.
bool ZmqFront::give(Message& message) {
  Worker& worker = workers_[worker_of(message.identity.bytes())];
  if (worker.has_ended) return true;
  for (const bool first : {true, false}) {
    const int error = send_part(worker.pair, first ? message.identity : message.datagram, first);
    if (error == EAGAIN) return false;
    if (error != 0) fail(error, "zmq_msg_send()");
  }
  return true;
}

// The ROUTER numbers the peers that have no identity of their own: the workers get these peers in turn.
std::size_t ZmqFront::worker_of(Bytes identity) const {
  const bool is_number = identity.size() == 5 && identity.front() == std::byte{};
  const std::uint64_t number =
      is_number ? read_big_endian<std::uint32_t>(identity.data() + 1) : keyed_hash(key_, identity);
  return number % workers_.size();
}

// From the workers to the ROUTER.

bool ZmqFront::pass_out(std::size_t worker) {
  const ZmqSocket& pair = workers_[worker].pair;
  for (std::size_t i = 0; i < kQuota; ++i) {
    Message message;
    if (const int error = receive_part(pair, message.identity); error == EAGAIN)
      return i > 0;
    else if (error != 0)
      fail(error, "zmq_msg_recv()");
    if (const int error = receive_part(pair, message.datagram); error != 0) fail(error, "zmq_msg_recv()");
    const bool waits = !held_.empty() && held_.contains(std::string(as_text(message.identity.bytes())));
    if (message.is_question() && !waits) {
      command(worker, ZmqCommand::passed, message.identity.bytes());
      continue;
    }
    const int error = waits ? EAGAIN : send_out(message);
    if (error == EAGAIN) {
      hold(worker, std::move(message));
    } else if (error != 0) {
      command(worker, ZmqCommand::gone, message.identity.bytes());
    }
  }
  return true;
}

// Returns 0, EAGAIN if the peer's pipe is full, or EHOSTUNREACH if the peer has gone. After such an error the
// message is whole.
int ZmqFront::send_out(Message& message) {
  ZmqPart identity(message.identity.size());
  std::ranges::copy(message.identity.bytes(), identity.data());
  for (const bool first : {true, false}) {
    const int error = send_part(router_, first ? identity : message.datagram, first);
    if (error == EAGAIN || error == EHOSTUNREACH) return error;
    if (error != 0) fail(error, "zmq_msg_send()");
  }
  return 0;
}

void ZmqFront::hold(std::size_t worker, Message message) {
  if (held_.empty()) retry_at_ = (tried_at_ = Clock::now()) + (retry_pause_ = kFirstRetry);
  const std::string identity(as_text(message.identity.bytes()));
  const auto [place, is_new] = held_.try_emplace(identity, Held{.worker = worker, .messages = {}});
  Held& held = place->second;
  if (is_new) command(worker, ZmqCommand::hold, as_bytes(identity));
  held.bytes += message.datagram.size() + kHeldBesides;
  held.messages.push_back(std::move(message));
  if (held.bytes <= kMostHeld) return;
  hosting_.tally.add({.not_sent = held.datagrams() - 1});  // the worker counts one of them
  command(worker, ZmqCommand::overrun, as_bytes(identity));
  held_.erase(place);
}

bool ZmqFront::pass_held() {
  bool moved = false;
  for (auto place = held_.begin(); place != held_.end();) {
    Held& held = place->second;
    const std::size_t before = held.messages.size();
    const int error = send_held(held);
    moved |= held.messages.size() < before;
    if (error == EAGAIN) {
      ++place;
      continue;
    }
    if (error != 0) hosting_.tally.add({.not_sent = held.datagrams() - 1});  // the worker counts one of them
    const ZmqCommand what = error == 0 ? ZmqCommand::resume : ZmqCommand::gone;
    command(held.worker, what, as_bytes(place->first));
    place = held_.erase(place);
  }
  retry_pause_ = moved ? kFirstRetry : std::min(2 * retry_pause_, kLongestRetry);
  retry_at_ = (tried_at_ = Clock::now()) + retry_pause_;
  return moved;
}

// Sends as many messages as have room. Returns 0 when all are sent, or an errno.
int ZmqFront::send_held(Held& held) {
  for (; !held.messages.empty(); held.messages.pop_front()) {
    Message& first = held.messages.front();
    const std::size_t bytes = first.datagram.size() + kHeldBesides;
    if (first.is_question()) {
      command(held.worker, ZmqCommand::passed, first.identity.bytes());
    } else if (const int error = send_out(first); error != 0) {
      return error;
    }
    held.bytes -= bytes;
  }
  return 0;
}

// Counts the messages that are left at the end: their sessions have ended, and took them for sent.
void ZmqFront::drop_held() {
  for (auto& [identity, held] : held_) {
    std::erase_if(held.messages, [](const Message& message) { return message.is_question(); });
    if (held.messages.empty()) continue;
    hosting_.tally.add({.not_sent = held.messages.size()});
    if (is_of_session(held.messages.back().datagram.bytes()))
      hosting_.tally.failed({Stage::send, 0, "the peer did not take all that it was sent before the end"});
  }
}

void ZmqFront::command(std::size_t worker, ZmqCommand what, Bytes identity) {
  ZmqPart part(1 + identity.size());
  *part.data() = static_cast<std::byte>(what);
  std::ranges::copy(identity, part.data() + 1);
  workers_[worker].commands.push_back(std::move(part));
}

bool ZmqFront::flush_commands(Worker& worker) {
  bool moved = false;
  if (worker.has_ended) worker.commands.clear();
  for (; !worker.commands.empty(); worker.commands.pop_front(), moved = true) {
    const int error = send_part(worker.command_pair, worker.commands.front(), false);
    if (error == EAGAIN) break;
    if (error != 0) fail(error, "zmq_msg_send()");
  }
  return moved;
}

// Asks each socket for its events, so that the descriptors then report what comes afterwards.
bool ZmqFront::has_events() const {
  bool any = (router_.events() & ZMQ_POLLIN) != 0 && !incoming_ && !finishing_;
  const std::size_t waits_for = incoming_ ? worker_of(incoming_->identity.bytes()) : workers_.size();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    const unsigned wanted = ZMQ_POLLIN | (i == waits_for && !worker.has_ended ? unsigned{ZMQ_POLLOUT} : 0U);
    any |= (worker.pair.events() & wanted) != 0;
    const unsigned room = worker.command_pair.events() & ZMQ_POLLOUT;
    any |= room != 0 && !worker.commands.empty() && !worker.has_ended;
  }
  return any;
}

void ZmqFront::sleep() {
  std::vector<pollfd> fds;
  fds.push_back({.fd = waker_.fd(), .events = POLLIN, .revents = 0});
  fds.push_back({.fd = router_.fd(), .events = POLLIN, .revents = 0});
  for (const Worker& worker : workers_)
    for (const ZmqSocket* const pair : {&worker.pair, &worker.command_pair})
      fds.push_back({.fd = pair->fd(), .events = POLLIN, .revents = 0});
  const auto pause = std::chrono::ceil<std::chrono::milliseconds>(retry_at_ - Clock::now()).count();
  const int most_ms = held_.empty() ? -1 : static_cast<int>(std::clamp<decltype(pause)>(pause, 0, 1000));
  retry_interrupted([&] { return ::poll(fds.data(), fds.size(), most_ms); });
  waker_.clear();
  // Perhaps room has come. But the ROUTER reports every message, and all peers are not tried for each.
  if (fds[1].revents != 0) retry_at_ = std::min(retry_at_, tried_at_ + kFirstRetry);
}

}  // namespace joust
