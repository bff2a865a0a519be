// SPDX-License-Identifier: MIT
//
// The life of a peer: joining, leaving, and what comes between.
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "connection/tally.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/zeromq/engines.hpp"
#include "engines/zeromq/loop.hpp"
#include "engines/zeromq/sockets.hpp"

namespace joust {

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
    peer.link = {.side = MessageLink::Side::client, .token = peer.joining->token(), .delivery = kZmqDelivery};
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
  epoll_.remove(peer.own->fd);
  if (peer.connection) return true;
  peer.own->socket.set(ZMQ_LINGER, 0);  // no server answers
  if (peer.feels && !peer.socket.is_open() && now() >= peer.dial.give_up)
    hosting().tally.note(to_text(endpoint_of(peer)) +
                         " accepts connections, but no joust server on ZeroMQ answers");
  return true;
}

}  // namespace joust
