// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "connection/datagram.hpp"
#include "engines/epoll.hpp"
#include "engines/loop/loop_core.hpp"
#include "engines/udp/peer.hpp"

namespace joust {

// The delivery of UDP: whole messages that may be lost.
inline constexpr Delivery kUdpDelivery{.kind = Delivery::Kind::message,
                                       .largest_message = kLargestDatagram - DatagramHead::kBytes,
                                       .lossy = true};
inline constexpr std::array<std::string_view, 2> kPackChoices{"off", "on"};
inline constexpr Knob kPackKnob{"pack", kPackChoices, "several whole messages in one datagram"};
inline constexpr std::array<std::string_view, 2> kWireChoices{"joust", "plain"};
inline constexpr Knob kWireKnob{
    .name = "wire",
    .choices = kWireChoices,
    .summary = "plain: a datagram is a message and nothing else, for servers of others (clients only)",
    .for_others = "plain"};
inline constexpr std::array kUdpKnobs{kPackKnob, kWireKnob};

// See Engine::decided: a plain datagram is one message.
inline DecidedKnob decided_udp_knob(std::string_view knob, const EngineOptions& options) {
  if (knob != "pack" || !options.is("wire", "plain")) return {};
  return {.by = "--wire plain", .value = "off"};
}

// The size of a buffer that holds every datagram.
inline constexpr std::size_t kUdpBuffer = 64 << 10;

// The books of the engines on UDP: sockets, peers, joins, deadlines, dials, publications and stops. It waits
// with epoll, which reports sockets with input or room. An engine receives and sends in its own way:
//
//     for each socket of wait():   receive: received() or receive_failed(), for each datagram
//     finish_turn()                deadlines, publications, stop
//     for each next_talker():      fill() a batch, send it, and sent()
//     sweep()
//
// A server's socket is shared by its peers, so an engine never stops reading it. Input that a session does
// not want is held for it within a limit, and dropped beyond. Each client has a socket of its own, connected,
// so that the kernel passes on only what the server sends, and reports its refusals. No error of a datagram
// ends a loop.
class UdpLoop : public LoopCore<UdpPeer> {
 public:
  using Peer = UdpPeer;

  UdpLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  ~UdpLoop() override;

 protected:
  // Starts dials, waits, and returns the sockets that have input; valid until sweep().
  std::span<UdpSocket* const> wait();
  void finish_turn();
  // Sweeps as LoopCore does, and ends a group that has left, with its members.
  void sweep();
  // Returns a socket that has something to send, and room for it. Returns null if none has, or if this turn
  // has sent enough. A socket is returned again as long as it has output and room.
  UdpSocket* next_talker();
  bool may_send(const UdpSocket& socket) const { return sends_left_ > 0 && socket.may_send(); }

  // Handles one datagram from that address; connected clients need no address. received_by_group() is for a
  // client's socket that receives from a group.
  void received(UdpSocket& socket, Bytes bytes, const Endpoint& from);
  void received_by_group(UdpSocket& socket, Bytes bytes, const Endpoint& from);
  // Handles an errno of a receive. EAGAIN is no failure.
  void receive_failed(UdpSocket& socket, int error);

  // Fills the batch with the datagrams to be sent next, and returns its size. sent() follows, once. Datagrams
  // that were not sent by then are in a later batch again.
  std::size_t fill(UdpSocket& socket, UdpBatch& batch);
  // Reports that the first n were sent. `error`: the errno with which the next one was refused, or 0.
  void sent(UdpSocket& socket, UdpBatch& batch, std::size_t n, int error = 0);

  // Returns how many datagrams a socket receives or sends before the others get their turn.
  std::size_t quota(const UdpSocket& socket) const { return socket.only != nullptr ? 64 : 1024; }

  // Lets a client's socket reach its server: connects it. Returns an errno, or 0.
  virtual int approach(Peer& peer, const Endpoint& server);
  // Called when the server of a client that is not connected has answered from that address, with this
  // challenge. May throw.
  virtual void found(Peer& /*peer*/, const Endpoint& /*server*/, const DatagramHead& /*challenge*/) {}

  UdpSocket& add_server_socket(int fd);
  // Gives a client its socket for a group. The socket is read once the peer has been let in; until then it
  // keeps the datagrams that come.
  void hear_group(Peer& peer, Fd socket);
  // Call it before the first turn. Output of the service for all its peers is then sent to the group, through
  // that socket.
  void open_group(UdpSocket& through, const Endpoint& group);

 private:
  void connect(Peer& peer) override;
  void serve(Peer& peer) override;
  bool let_go(Peer& peer) override;
  void tell(Peer& peer, News news) override;

  void forget(UdpSocket& socket);
  void end_group();
  void end_those_that_give_way();
  void watch(UdpSocket& socket);
  friend class Epoll;
  void ready(Watched& what, unsigned events);
  void await_answer(Peer& peer);
  void talk(Peer& peer);
  void queue(UdpSocket& socket);
  void hear(Peer& peer, const Datagram& datagram, const Endpoint& from);
  void hear_while_joining(Peer& peer, const Datagram& datagram, const Endpoint& from);
  void hear_stranger(UdpSocket& socket, const DatagramHead& head, const Endpoint& from, Peer* known);
  void reply(UdpSocket& socket, const Endpoint& to, const DatagramHead& head);
  std::size_t collect(Peer& peer, std::span<DatagramOut> into);
  void give_back(UdpSocket& socket, UdpBatch& batch, std::size_t n);
  void refused(UdpSocket& socket, UdpBatch& batch, int error);
  void drop_first(UdpSocket& socket, UdpBatch& batch);
  void unreachable(UdpSocket& socket, int error);
  void note_lingering(Peer& peer);
  void stop_by_and_by();

  const MessageLink link_;  // of a new connection, without its token
  UdpNotice notice_{inbox().waker()};
  const HashKey table_key_;
  const Admission admission_;
  std::uint64_t tokens_ = 0;
  Doors doors_;
  Epoll epoll_{hosting()};
  std::deque<UdpSocket> servers_;
  MessageGroup sent_to_group_;
  const Peer* group_peer_ = nullptr;  // the peer that stands for the group; null if none does
  bool group_ended_ = false;          // the group's peer has left in this sweep
  std::vector<UdpSocket*> inputs_;    // sockets with input in this turn
  Queue<UdpSocket> sending_;
  std::size_t lingering_ = 0;  // peers that only linger
  unsigned turns_of_stop_ = 0;
  std::size_t sends_left_ = 0;  // datagrams left to send in this turn
};

// Engine::run of an engine on UDP. Its sockets stay open until all loops have ended.
template <typename Loop>
void run_udp(const Hosting& hosting, Stop& stop) {
  run_loops<Loop>(hosting, stop);
  for (Listener* const listener : hosting.listeners) listener->close();
}

}  // namespace joust
