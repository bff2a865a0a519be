// SPDX-License-Identifier: MIT
#include "engines/zeromq/loop.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <new>
#include <stdexcept>
#include <utility>

#include "connection/tally.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/zeromq/library.hpp"
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
  epoll_.watch(stop.fd(), doors_.stop, POLLIN);
  epoll_.watch(inbox().waker().fd(), doors_.inbox, POLLIN);
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
  if (is_stopping() && !draining() && may_drain()) wait_until(quiet_at_);
  if (server_ && server_->is_blocked()) wait_until(server_->retry_at);
  epoll_.wait(*this, most);
}

void ZmqLoop::ready(Watched& what, unsigned /*events*/) {
  if (what.kind == Watched::Kind::inbox)
    return admit_dealt();  // no peer is dealt here: only clears the waker
  if (what.kind == Watched::Kind::stop) {
    request_stop();
    quiet_at_ = now() + kQuiet;
    quiet_at_last_ = now() + kMostUnquiet;
    return epoll_.forget(stop().fd(), what);  // it stays readable
  }
  auto& link = static_cast<ZmqLink&>(what);
  link.input = link.signalled = true;
  busy_.push(link);
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
  if (is_stopping()) stop_by_and_by();
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
  if (is_stopping()) quiet_at_ = std::min(now() + kQuiet, quiet_at_last_);
}

void ZmqLoop::begin(ZmqLink& link) {
  link.receiver = receive(link);
  link.sender = send(link);
  link.sender.start();
  link.receiver.start();
  epoll_.watch(link.fd, link, POLLIN);
  busy_.push(link);
}

// The life of a peer: joining, leaving, and what comes between.

// Makes the session, without its peer's address (zmq_msg_gets): no service of messages asks for it.
void open_session(const Hosting& hosting, ZmqPeer& peer, Time now) {
  const ConnectionInfo info{.delivery = peer.link.delivery};
  peer.connection.emplace(hosting.service.open(info), peer.link, hosting.limits, hosting.tally, now);
}

// Called again whenever the join is to be repeated.
void ZmqLoop::connect(Peer& peer) {
  if (!peer.joining) {
    ZmqSocket dealer = dealer_for(hosting(), context_, endpoint_of(peer));
    peer.own = std::make_unique<ZmqLink>(std::move(dealer), table_key_);
    peer.own->only = &peer;
    peer.through = peer.own.get();
    peer.joining.emplace(admission_.token(++tokens_), now());
    peer.link = {.side = MessageLink::Side::client, .token = peer.joining->token()};
    begin(*peer.own);
  } else if (const int error = feel(peer); error != 0) {
    return finish_dial(peer, error);
  }
  talk(peer);
  if (!peer.queued()) await_answer(peer);  // the timer was set for an earlier join
}

// Returns false (ENOTCONN) while a connect is on its way, which SO_ERROR does not show.
bool is_connected(int socket) {
  Endpoint peer;
  peer.size = sizeof peer.storage;
  return ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer.storage), &peer.size) == 0;
}

// Asks the kernel by a plain socket whether a program listens at the endpoint; returns an errno if none does.
// It is used where the library's connect takes long, because the library connects without a report, and for
// ever.
int ZmqLoop::feel(Peer& peer) {
  if (!peer.socket.is_open()) return 0;
  if (std::exchange(peer.feels, true)) {
    const int error = connect_result(peer.socket.get());
    if (error == 0 && is_connected(peer.socket.get())) peer.socket.close();
    return error;
  }
  const Endpoint& to = endpoint_of(peer);
  if (::connect(peer.socket.get(), to.raw(), to.size) == 0) return 0;
  return errno == EINPROGRESS || is_full_backlog(errno, to.family()) ? 0 : errno;
}

// Sets the timer after which the join is repeated if no answer has come.
void ZmqLoop::await_answer(Peer& peer) {
  peer.dial.again = true;
  set_deadline(peer, peer.joining->due());
}

void ZmqLoop::tell(Peer& peer, News news) {
  if (news == News::established && !peer.own) peer.through->peers.add(as_bytes(peer.identity), peer);
  if (news == News::established) peer.socket.close();
  LoopCore::tell(peer, news);
}

void ZmqLoop::serve(Peer& peer) {
  note_lingering(peer);
  if (!is_batching()) talk(peer);
}

void ZmqLoop::talk(Peer& peer) {
  if (peer.leaving || peer.queued()) return;
  const bool has_output =
      peer.connection ? peer.connection->has_output() : peer.joining && now() >= peer.joining->due();
  if (!has_output) return;
  ZmqLink& link = *peer.through;
  link.talkers.push(peer);
  if (link.may_send() && !link.queued()) busy_.push(link);
}

void ZmqLoop::note_lingering(Peer& peer) {
  if (peer.only_lingers || !peer.connection->only_lingers()) return;
  peer.only_lingers = true;
  ++lingering_;
}

bool ZmqLoop::let_go(Peer& peer) {
  if (peer.only_lingers) --lingering_;
  if (peer.through == nullptr) return true;  // the library has refused it a socket
  if (!peer.own) {
    peer.through->peers.remove(as_bytes(peer.identity), peer);
    if (peer.connection && peer.connection->is_broken_off())
      reply(*peer.through,
            {peer.identity, Admission::unknown(peer.link.token), now() + hosting().limits.linger});
    return true;
  }
  epoll_.forget(peer.own->fd, *peer.own);
  if (peer.connection) return true;
  peer.own->socket.set(ZMQ_LINGER, 0);  // no server answers
  if (peer.feels && !peer.socket.is_open() && now() >= peer.dial.give_up)
    hosting().tally.note(to_text(endpoint_of(peer)) +
                         " accepts connections, but no joust server on ZeroMQ answers");
  return true;
}

// Receiving.

void ZmqLoop::received(ZmqLink& link) {
  const bool is_client = !link.is_server();
  const auto datagram = parse_datagram(link.parts[is_client ? 0 : 1].bytes());
  if (!datagram) {
    const bool foreign = datagram.error() == NoDatagram::foreign;
    return hosting().tally.add({.foreign = foreign, .truncated = !foreign});
  }
  const Bytes from = is_client ? Bytes{} : link.parts[0].bytes();
  Peer* const peer = is_client ? link.only : link.peers.find(from);
  if (peer != nullptr && peer->link.token == datagram->head.token) return hear(*peer, *datagram);
  if (is_client) return hosting().tally.add({.foreign = 1});
  hear_stranger(link, datagram->head, from, peer);
}

void ZmqLoop::hear(Peer& peer, const Datagram& datagram) {
  if (peer.leaving) return;
  if (!peer.connection) return hear_while_joining(peer, datagram);
  stamp();
  guarded(peer, [&] { peer.connection->received(datagram, now()); });
  attend(peer);
}

void ZmqLoop::hear_while_joining(Peer& peer, const Datagram& datagram) {
  if (!peer.joining->received(datagram.head, now())) return talk(peer);
  equip_source(hosting(), peer.own->parts.front());
  finish_dial(peer, 0);
  if (!peer.connection || peer.leaving) return;
  guarded(peer, [&] { peer.connection->received(datagram, now()); });
  attend(peer);
}

// TCP has confirmed the address already. The cookie is asked for all the same: an identity, which its peer
// chooses, costs no memory until the peer has answered.
void ZmqLoop::hear_stranger(ZmqLink& link, const DatagramHead& head, Bytes from, Peer* known) {
  const Admission::Answer answer = admission_.answer(head, from, now());
  if (answer.reply) return reply(link, {std::string(as_text(from)), *answer.reply});
  if (!answer.admitted) return hosting().tally.add({.foreign = 1});
  if (is_stopping()) return;
  const bool takes_a_place = known != nullptr && known->connection;  // the place of the old peer
  if (full() && !takes_a_place)
    return hosting().tally.note("joins were left unanswered: at the connection limit");
  if (takes_a_place) {
    guarded(*known, [&] {
      known->connection->failed({Stage::receive, ECONNRESET, "its identity has begun another connection"},
                                now());
    });
    attend(*known);
  }
  equip_source(hosting(), link.parts.back());
  admit_newcomer(link, from, MessageLink{.side = MessageLink::Side::server, .token = head.token});
}

// Queues an answer to a stranger. Beyond the limit, strangers have to ask again.
void ZmqLoop::reply(ZmqLink& link, ZmqLink::Reply&& reply) {
  if (link.replies.size() + link.put_off.size() >= ZmqLink::kMostReplies) return;
  try {
    link.replies.push_back(std::move(reply));
  } catch (const std::bad_alloc&) {
    return;
  }
  if (link.may_send() && !link.queued()) busy_.push(link);
}

// Sending.

void ZmqLoop::send_next(ZmqLink& link) {
  --link.sends_left;
  if (!link.replies.empty()) return send_reply(link);
  Peer& peer = *link.talkers.pop();
  const std::size_t count = collect(peer);
  if (count == 0) return attend(peer);
  std::size_t n = 0;
  int error = 0;
  while (n < count && error == 0) {
    error = put(link, as_bytes(peer.identity), batch_[n]);
    if (error == 0) ++n;
  }
  link.sends_left -= std::min(link.sends_left, count - 1);
  link.looked_at = false;
  if (std::exchange(peer.is_full, error == EAGAIN) && n > 0) link.retry_pause = {};
  if (n > 0) sent(peer, n);
  if (error == 0 || peer.leaving) return;
  if (error != EAGAIN) return refused(peer, error);
  if (link.is_server()) {
    retry_later(link);
    return link.blocked.push(peer);
  }
  link.writable = false;
  link.talkers.push(peer);
}

// Sends the first answer. An answer to a stranger is dropped if it finds no room, because the stranger asks
// again. An answer to a peer whose connection was broken off is kept for a while, because that peer asks
// nothing: it may take what its pipe holds first.
void ZmqLoop::send_reply(ZmqLink& link) {
  DatagramOut out;
  ZmqLink::Reply& first = link.replies.front();
  write_signal(first.head, out);
  const int error = put(link, as_bytes(first.to), out);
  link.looked_at = false;
  if (error == EAGAIN && now() < first.until) {
    retry_later(link);
    link.put_off.push_back(std::move(first));
    return link.replies.pop_front();
  }
  link.replies.pop_front();
  if (error != 0) hosting().tally.add({.not_sent = 1});
}

// Fills the batch from a peer. A peer whose pipe was full is tried with one datagram.
std::size_t ZmqLoop::collect(Peer& peer) {
  std::size_t count = 0;
  guarded(peer, [&] {
    if (peer.connection)
      count = peer.connection->output(std::span(batch_).first(peer.is_full ? 1 : kBatch), now());
    else
      count = peer.joining->output(batch_.front(), now()) ? 1 : 0;
  });
  return count;
}

void ZmqLoop::sent(Peer& peer, std::size_t n) {
  if (!peer.connection) {
    peer.joining->sent(now());
    return await_answer(peer);
  }
  guarded(peer, [&] { peer.connection->sent(n, now()); });
  attend(peer);
}

// The peer has gone, or was sent more than it took. A goodbye cannot reach it then.
void ZmqLoop::refused(Peer& peer, int error) {
  if (!peer.connection) {
    hosting().tally.add({.not_sent = 1});
    peer.joining->sent(now());
    return await_answer(peer);
  }
  if (peer.connection->is_leaving() || peer.connection->only_lingers()) return leave(peer);
  hosting().tally.add({.not_sent = 1});
  const char* const why = error == EHOSTUNREACH ? "the peer has gone"
                          : error == ENOMEM     ? "no memory for a message"
                                                : "the peer does not take what it is sent";
  guarded(peer, [&] { peer.connection->failed({Stage::send, error, why}, now()); });
  attend(peer);
}

void run_zeromq(const Hosting& hosting, Stop& stop) {
  const auto frames = TaskFrames::alive();
  const ZmqContext context = context_for(hosting);
  run_loops<ZmqLoop>(hosting, stop, context);
  for (Listener* const listener : hosting.listeners) listener->close();  // resets peers in the accept queue
  if (TaskFrames::alive() != frames) throw std::logic_error("zeromq: frames are left");
}

}  // namespace joust
