// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "joust/bytes.hpp"
#include "joust/framing.hpp"
#include "joust/outbox.hpp"

namespace joust {

// Where a handler writes its replies and an exchange its requests: one send() is one message, framed on the
// way.
class Writer {
 public:
  Writer(const Framing& framing, Outbox& outbox) : framing_(framing), outbox_(outbox) {}
  void send(Bytes message) { write_frame(framing_, message, outbox_); }
  void send(std::string_view text) { send(as_bytes(text)); }

 private:
  const Framing& framing_;
  Outbox& outbox_;
};

// The server side of a request and response protocol for one peer: whole messages in, replies out. Touched by
// one thread at a time.
class Handler {
 public:
  virtual ~Handler() = default;

  // Returns false when the peer broke the protocol: what has been written is still sent, then the connection
  // ends.
  [[nodiscard]] virtual bool on_message(Bytes message, Writer& replies) = 0;
};

// What the client side makes of a message from the server.
enum class Heard : std::uint8_t {
  wrong,     // the connection has failed
  greeting,  // the answer to write_greeting(): this connection is ready for the load
  reply,     // to the oldest request outstanding
  other,     // right, and nobody's reply
};

// The client side for one connection: makes request number n (0, 1, 2 ... on this connection) and checks its
// reply. Requests may be outstanding together; replies come in the order of the requests. Touched by one
// thread at a time.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual void write_request(std::uint64_t number, Writer& request) = 0;

  // True when every byte of the reply is right.
  [[nodiscard]] virtual bool verify(std::uint64_t number, Bytes reply) = 0;

  // The exact size of the reply in bytes; asked only where the framing is Raw, which has no boundaries of its
  // own.
  virtual std::size_t reply_size(std::uint64_t /*number*/) const { return 0; }

  // Protocols in which more is said than requests and replies override these too.

  // Returns true when there is one; the load starts when all connections have their answer.
  virtual bool write_greeting(Writer& /*greeting*/) { return false; }

  // `number` is that of the oldest request outstanding. The default knows nothing but replies.
  [[nodiscard]] virtual Heard hear(std::uint64_t number, Bytes message) {
    return verify(number, message) ? Heard::reply : Heard::wrong;
  }

  // What was wrong with the last message that was not right, for people.
  virtual std::string_view complaint() const { return "a reply is not the right one"; }

  // No request will follow. Once.
  virtual void on_last_request() {}

  // The last so many requests written were not sent, and will not be.
  virtual void on_withdrawn(std::uint64_t /*requests*/) {}

  // The connection has failed: nothing will come any more. Before on_last_request().
  virtual void on_failure() {}

  // Whether all has come that was expected besides replies. May become true by what other connections do;
  // then the service's publication count moves.
  virtual bool complete() const { return true; }
};

}  // namespace joust
