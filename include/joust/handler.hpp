// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "joust/bytes.hpp"
#include "joust/framing.hpp"
#include "joust/outbox.hpp"
#include "joust/time.hpp"

namespace joust {

// Writes the replies of a handler or the requests of an exchange. Each send() frames and copies one message.
// The constructor's arguments are borrowed; each message begins with the bytes of `head`.
class Writer {
 public:
  Writer(const Framing& framing, Outbox& outbox, Bytes head = {})
      : framing_(framing), outbox_(outbox), head_(head) {}
  void send(Bytes message) {
    if (head_.empty()) return write_frame(framing_, message, outbox_);
    write_frame(framing_, head_, message, outbox_);
  }
  void send(std::string_view text) { send(as_bytes(text)); }
  // Sends a message of n bytes, which the caller must fill before the next call.
  std::span<std::byte> extend(std::size_t n) {
    const std::span<std::byte> room = extend_by_frame(framing_, head_.size() + n, outbox_);
    std::ranges::copy(head_, room.begin());
    return room.subspan(head_.size());
  }

 private:
  const Framing& framing_;
  Outbox& outbox_;
  const Bytes head_;
};

// The server side of one connection of a request and response protocol. At most one thread at a time calls
// it; different calls may come from different threads.
class Handler {
 public:
  virtual ~Handler() = default;

  // `message` is valid during the call. Returns false when the peer broke the protocol: replies written so
  // far are still sent, then the connection ends.
  [[nodiscard]] virtual bool on_message(Bytes message, Writer& replies) = 0;

  // Returns how long after the arrival of the last message its replies become due. The session keeps them
  // until then, and meanwhile reads further messages. Replies leave in the order of the messages. Called
  // after on_message().
  virtual Duration delay() const { return {}; }

  // Returns how long the last message has occupied the thread, as far as the handler knows. If that is long,
  // the session leaves further messages to the loop's next turn. Called after on_message().
  virtual Duration spent() const { return {}; }

  // Returns the peer's protocol error for which on_message() returned false, in words. If it is empty, the
  // end of the connection is not counted as a failure.
  virtual std::string_view complaint() const { return {}; }

  // The program stops. Writes the last words of a connection after all replies: one message, or none. Not
  // called where the peer has ended the connection, or broke the protocol; nor over a lossy delivery.
  virtual void write_last(Writer& /*last*/) {}
};

// The client's classification of a message from the server.
enum class MessageKind : std::uint8_t {
  wrong,     // the protocol does not allow it here: the connection has failed
  greeting,  // the correct answer to write_greeting(): this connection is ready for the load
  reply,     // the correct reply to the oldest outstanding request
  // The correct reply to the oldest outstanding request, with which the server ends the connection. Requests
  // behind it are sent again on another connection; nothing has failed. Only over a stream, and without a
  // greeting.
  last_reply,
  other,  // a correct message that is not a reply
  asks,   // likewise, and the server waits for an answer: write_answer() has it
  // The server says that it ends the connection now, in the middle of the load: the connection is lost, as if
  // it had closed it without a word. complaint() is the reason, and write_refusal() the last answer.
  ends,
  repeated,  // a message that has come before: only over a lossy delivery
};

// The client side of one connection: writes request number n (0, 1, 2 ... on this connection) and checks its
// reply. Several requests may be outstanding; replies come in the order of the requests. At most one thread
// at a time calls it; different calls may come from different threads.
//
// Over a lossy delivery (Delivery::lossy) replies may be missing, and come in any order. A number of 8 bytes
// then travels before each request and its reply. The exchange need not know it.
//
// Request and reply protocols need only write_request and verify. The other methods are for protocols with
// further messages.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Writes one message.
  virtual void write_request(std::uint64_t number, Writer& request) = 0;

  // True when every byte of the reply is correct. Called by classify(); not needed where classify() is
  // overridden.
  [[nodiscard]] virtual bool verify(std::uint64_t /*number*/, Bytes /*reply*/) { return false; }

  // Returns the exact size of the reply in bytes. Called only with the framing Raw, which has no boundaries.
  virtual std::size_t reply_size(std::uint64_t /*number*/) const { return 0; }

  // Writes one message before the load and returns true, or returns false if the protocol has no greeting.
  // The load starts when classify() has recognized the answer on every connection. Over a lossy delivery it
  // is called again until then, and more than one answer may come.
  virtual bool write_greeting(Writer& /*greeting*/) { return false; }

  // Writes more of the greeting, of which some has been answered; it may write nothing. Called after each
  // message until classify() has recognized the answer. Only over a stream.
  virtual void write_more_greeting(Writer& /*greeting*/) {}

  // Classifies a message. `number` is that of the oldest outstanding request. By default each message is a
  // reply.
  [[nodiscard]] virtual MessageKind classify(std::uint64_t number, Bytes message) {
    return verify(number, message) ? MessageKind::reply : MessageKind::wrong;
  }

  // Returns how many bytes at the beginning are whole messages, with their boundaries, that are known to be
  // of the kind `other`: they are not classified. For protocols with a greeting, whose members receive the
  // same messages; called where a message begins, with bytes that came over a stream.
  virtual std::size_t take_known(Bytes /*chunk*/) { return 0; }

  // Returns true if the protocol's own messages carry the numbers of requests. Over a lossy delivery they
  // then travel without a further number. classify() gets no number, and number_of() returns the number of a
  // message that classify() classified as a reply. The reply may belong to a request that was given up.
  virtual bool carries_numbers() const { return false; }
  virtual std::uint64_t number_of(Bytes /*reply*/) const { return 0; }

  // Returns the right reply to a request, for the message about a wrong one; valid until the next call. Empty
  // if it is not known byte for byte.
  virtual Bytes expected(std::uint64_t /*number*/) const { return {}; }

  // Returns why classify() returned `wrong`, in words.
  virtual std::string_view complaint() const { return "a reply is not the right one"; }

  // Writes the answers to the messages that were classified as `asks` since the last call. Called at once,
  // or with the next input where too much output waits. Answers leave after the requests written before.
  // Not over a lossy delivery.
  virtual void write_answer(Writer& /*answer*/) {}

  // classify() has returned `wrong` or `ends`. Writes why, as the last words for the server: one message, or
  // none. Sent only where nothing waits to be sent, and not over a lossy delivery.
  virtual void write_refusal(Writer& /*refusal*/) {}

  // Writes the last words of a connection, whose work is done: one message, or none. No reply is waited for.
  // Not called where the server has ended the connection, or it has failed.
  virtual void write_last(Writer& /*last*/) {}

  // No more requests will be written: at all, or until the next turn (LoadPlan::turns). Called once in each
  // turn.
  virtual void on_last_request() {}

  // The newest `requests` requests were written but will never be sent.
  virtual void on_withdrawn(std::uint64_t /*requests*/) {}

  // The connection has failed: no more messages will arrive. Called before on_last_request().
  virtual void on_failure() {}

  // Returns true once every message that is not a reply has arrived. Until then the connection stays open, or
  // its turn lasts. Called after each message of this connection, and when the publication count of the load
  // has changed.
  virtual bool complete() const { return true; }

  // Over a lossy delivery: no message came for the request timeout, and complete() is still false. Messages
  // that are missing when no peer sends any more are lost.
  virtual void on_silence() {}
};

}  // namespace joust
