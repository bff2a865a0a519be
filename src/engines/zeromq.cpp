// SPDX-License-Identifier: MIT
// Needs Linux: the engines on ZeroMQ wait with epoll, which only Linux has
// Needs zeromq: ZeroMQ 4.3 or newer not found at build time: script/setup zeromq && script/build
//
// zeromq: a ROUTER for all peers of a server, a DEALER for each connection of a client, and one thread with
// two C++20 coroutines for each of these sockets.
//
//     TCP <--> I/O threads <--> queues <--> ZMQ_FD --> epoll_pwait2 --> the receiver  --> session
//          (of the library)                     ^                       zmq_msg_recv           |
//                                               +-- zmq_msg_send <----- the sender  <----------+
//
// Good at: whole messages over TCP, which the library frames, reconnects and sends in batches. Each message
// passes to another thread and back, so the I/O runs beside the sessions. Bad at: latency, for the same
// reason, and memory, because the queues of a peer hold up to 1,000 messages in each direction. A ROUTER has
// one queue for all its peers, so a session that wants nothing cannot hold its own peer back: its input is
// held, and beyond a limit its connection ends, counted as a failure. Towards a peer back-pressure exists: a
// full pipe leaves the rest with the session. A peer's end is not reported: see zeromq/loop.hpp, which has
// the loop; zeromq/library.cpp has the options, and the reasons for them. Where descriptors run out, the
// library's accept spins. Bad too where peers are not trusted: a message of endless parts takes all memory,
// and a peer that guesses the number that the ROUTER gives next ends the program (an assertion of the
// library). Peers without ZMTP 3 are cut off, because they could end the program while it stops. Left out on
// purpose: ZMQ_STREAM, which would be TCP without messages; PUB and SUB, which drop messages for a slow peer
// without a report.
#include <algorithm>
#include <cerrno>
#include <new>

#include "connection/tally.hpp"
#include "engines/zeromq/loop.hpp"

namespace joust {

// Receives messages, one each time that the loop resumes it.
Task<> ZmqLoop::receive(ZmqLink& link) {
  while (true) {
    co_await link.arrival;
    const Found found = receive_message(link);
    if (found == Found::message)
      received(link);
    else if (found == Found::foreign)
      hosting().tally.add({.foreign = 1});
  }
}

// Sends the output of one session, or one answer, each time that the loop resumes it.
Task<> ZmqLoop::send(ZmqLink& link) {
  while (true) {
    co_await link.departure;
    send_next(link);
  }
}

// Output is sent first, so that each message is answered before the next one is read.
void ZmqLoop::resume(ZmqLink& link) {
  link.receives_left = link.is_server() ? kMostReceived : kMostReceivedByClient;
  link.sends_left = kMostSends;
  while (true) {
    if (link.may_send() && link.sends_left > 0) {
      link.departure.resume();
      link.sender.surface();
    } else if (link.input && link.receives_left > 0) {
      link.arrival.resume();
      link.receiver.surface();
    } else {
      return;
    }
  }
}

// The parts of a message come together. Parts that do not belong in it are passed over.
ZmqLoop::Found ZmqLoop::receive_message(ZmqLink& link) {
  --link.receives_left;
  std::size_t count = 0;
  bool more = true;
  while (more) {
    ZmqPart superfluous;
    ZmqPart& part = count < link.parts.size() ? link.parts[count] : superfluous;
    const auto call = [&] { return zmq_msg_recv(part.get(), link.socket.get(), ZMQ_DONTWAIT); };
    if (retry_interrupted(call) < 0) {
      if (errno != EAGAIN) throw std::system_error(errno, std::generic_category(), "zmq_msg_recv()");
      link.input = false;
      link.looked_at = true;
      return Found::nothing;
    }
    link.looked_at = false;
    more = part.more_follow();
    ++count;
  }
  note_arrival();
  return count == (link.is_server() ? 2 : 1) ? Found::message : Found::foreign;
}

// Returns 0 or an errno: EAGAIN if a pipe is full, EHOSTUNREACH if the peer has gone. The datagram is copied
// into memory of the library. A part that refers to the session's bytes instead (zmq_msg_init_data) would
// need them until a thread of the library has sent them. It would also need an allocation, which costs more
// than copying a short message. A refusal comes with the first part: the rest has room.
int ZmqLoop::put(ZmqLink& link, Bytes to, const DatagramOut& datagram) {
  const auto send_part = [&link](ZmqPart& part, int flags) {
    const auto call = [&] { return zmq_msg_send(part.get(), link.socket.get(), ZMQ_DONTWAIT | flags); };
    return retry_interrupted(call) < 0 ? errno : 0;
  };
  try {
    ZmqPart identity(to.size()), part(datagram.size());  // both are made before the first one is sent
    std::byte* const behind = std::ranges::copy(datagram.front(), part.data()).out;
    std::ranges::copy(datagram.tail, behind);
    if (link.is_server()) {
      std::ranges::copy(to, identity.data());
      if (const int error = send_part(identity, ZMQ_SNDMORE); error != 0) return error;
    }
    return send_part(part, 0);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

// modules.cpp has the descriptor.
extern "C" void joust_run_zeromq(const Hosting& hosting, Stop& stop) {
  run_zeromq(hosting, stop);
}

}  // namespace joust
