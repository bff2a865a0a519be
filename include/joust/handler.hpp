// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

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
};

}  // namespace joust
