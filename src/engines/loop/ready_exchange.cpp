// SPDX-License-Identifier: MIT
#include "engines/loop/ready_exchange.hpp"

#include <cerrno>

namespace joust {
namespace {

// The number of sends is limited too, because a reader may be as fast as a file is read.
constexpr unsigned kSendsOfPeer = 16;  // of a peer in one turn
constexpr unsigned kEnd = kReadHangUp | POLLHUP | POLLERR;

}  // namespace

int ReadyExchange::connect(ReadyPeer& peer, const Endpoint& to) const {
  return ::connect(peer.socket.get(), to.raw(), to.size) == 0 ? 0 : errno;
}

void ReadyExchange::note_events(ReadyPeer& peer, unsigned events, Time now) {
  if ((events & kEnd) != 0) peer.end_is_near = true;
  if ((events & (POLLHUP | POLLERR)) != 0) peer.has_hung_up = true;
  if ((events & (POLLIN | kEnd)) != 0) peer.readable = true;
  if ((events & (POLLOUT | POLLHUP | POLLERR)) != 0) peer.writable = true;
  // While input is wanted, bytes that arrived before a reset are read first, and recv reports the reset.
  if ((events & POLLERR) != 0 && !peer.connection->wants_input()) look_for_reset(peer, now);
}

void ReadyExchange::look_for_reset(ReadyPeer& peer, Time now) {
  if (const int error = error_of(peer); error != 0) peer.connection->failed({Stage::receive, error, {}}, now);
}

bool ReadyExchange::receive_once(ReadyPeer& peer, Time now) {
  if (peer.error != 0 && unread_bytes(peer.socket.get()) == 0) {
    peer.connection->failed({Stage::receive, peer.error, {}}, now);
    return false;
  }
  const std::size_t for_file = peer.connection->has_files() ? file_input_.wanted(*peer.connection) : 0;
  const bool more = for_file == 0 ? receive(peer, buffer_, now)
                                  : file_input_.receive_ready(peer.socket.get(), *peer.connection, for_file,
                                                              peer.end_is_near, now);
  // A hint of libkqueue may be wrong, and would cost a second recv for every message.
  if (!more && peer.error == 0 && peer.connection->wants_input()) peer.end_is_near = false;
  return more;
}

bool ReadyExchange::receive(ReadyPeer& peer, std::span<std::byte> buffer, Time now) {
  return receive_ready(peer.socket.get(), *peer.connection, buffer, peer.end_is_near, now);
}

bool ReadyExchange::send(ReadyPeer& peer, Time now) {
  return send_ready(peer.socket.get(), *peer.connection, now);
}

// Sends the output. Returns true when the quota is used up.
bool ReadyExchange::flush(ReadyPeer& peer, Time now) {
  unsigned sends = 0;
  while (peer.writable && peer.connection->has_output()) {
    if (++sends > kSendsOfPeer) return true;
    peer.writable = send(peer, now);
  }
  if (peer.connection->wants_shutdown()) end_stream(peer.socket.get(), *peer.connection, now);
  return false;
}

}  // namespace joust
