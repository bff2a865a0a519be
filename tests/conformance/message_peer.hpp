// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "conformance/peer.hpp"
#include "conformance/wire.hpp"
#include "connection/datagram.hpp"
#include "engines/engine.hpp"
#include "net/address.hpp"

namespace joust::conformance {

// The other end of a message connection, on a plain socket of what the tested engine speaks: it sends only
// what a test tells it to. Any call that takes longer than kPatience throws.
class MessagePeer {
 public:
  // A datagram, as it was received.
  struct Heard {
    DatagramHead head;
    std::string payload;
    std::size_t bytes = 0;
    Endpoint from;
  };

  // A client's: connected to the server, or to what answers for a group.
  explicit MessagePeer(const Endpoint& to);
  // A server's, for an engine that dials: bound to a port of loopback, and a member of a group if the engine
  // looks for its server there.
  explicit MessagePeer(const Engine& client);

  const Endpoint& own() const { return wire_->own(); }
  std::uint64_t token() const { return token_; }
  void close() { wire_->close(); }
  void shut() { wire_->shut(); }
  Endpoint answers_from() const { return wire_->answers_from(); }

  // Until the server has let it in.
  void join();
  bool tries_to_join(Duration time);  // false: there was no answer that let it in
  // One message in one datagram; and the next message that comes, whatever signals come before it.
  void send(std::string_view message);
  std::string receive();
  // Says that it has finished, and waits for the answer: how many datagrams of data the server has sent.
  std::uint64_t leave();

  void send(const DatagramHead& head, std::string_view payload = {}, const Endpoint* to = nullptr);
  void send_raw(Bytes bytes, const Endpoint* to = nullptr);
  std::optional<Heard> next(Duration within = kPatience);
  // The next of that kind, whatever comes before it; throws after kPatience.
  Heard await(DatagramKind kind);
  // Lets whoever asks in, as a server does.
  Heard admit();

 private:
  std::unique_ptr<Wire> wire_;
  std::uint64_t token_;
  std::uint64_t cookie_ = 0;
  std::uint64_t sent_ = 0;            // datagrams of data
  std::deque<std::string> messages_;  // of a datagram that held several
};

}  // namespace joust::conformance
