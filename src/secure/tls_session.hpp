// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/shares.hpp"
#include "joust/bytes.hpp"
#include "joust/outbox.hpp"
#include "secure/guarded_session.hpp"
#include "secure/tls_context.hpp"

namespace joust {

// Checks the records that an unknown peer sends a server, before the library gets them. As soon as the
// library has the first four bytes of a ClientHello it allocates the memory that they announce, up to 128
// KiB. The ClientHello of this program is shorter than a fortieth of that, and whole in one record.
class HelloGate {
 public:
  static constexpr std::size_t kLargestHello = 4 << 10;  // bytes after the head of the message

  // Returns how many of these bytes may be passed on. If they are fewer than all, the bytes after them are no
  // handshake of this program, and nothing more may be passed on from then on.
  std::size_t allowed(Bytes chunk);
  // True if the head of a ClientHello has arrived and is good.
  bool greeted() const { return greeted_; }

 private:
  static constexpr std::size_t kRecordHead = 5, kMessageHead = 4;

  std::size_t head_needed() const;
  bool is_allowed() const;     // checks the record whose head is complete
  std::size_t record() const;  // bytes of the record after its head

  std::array<std::byte, kRecordHead + kMessageHead> head_{};
  std::size_t size_ = 0;  // bytes in head_
  std::size_t left_ = 0;  // bytes of the record that are still to come
  bool refused_ = false;
  bool greeted_ = false;  // the first record has arrived
};

// A session inside TLS. An engine uses it like any other session. To the session inside, it is the engine:
//
//     engine --- ciphertext ---> on_bytes --- decrypt ---> the inner on_bytes, or its file
//     engine <-- ciphertext ---- output  <--- encrypt ---- the inner output, files read here
//
// Encryption happens on inputs and acknowledgements, because output() is a query. So the waiting ciphertext
// is limited, and files are read here: the kernel cannot send them directly. Both sides end with a
// close_notify. A stream that ends without one was cut, and fails. Servers that have a certificate often
// leave it out, so there this is no failure of an inner session that has all it waits for.
class TlsSession : public GuardedSession {
 public:
  // The context and the service are borrowed.
  TlsSession(const TlsContext& context, Service& service, const ConnectionInfo& info);
  ~TlsSession() override;
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_peer_finished(Time now) override;

  std::size_t output(std::span<Segment> into) const override { return out_.segments(into); }
  Want want() const override;
  bool finished() const override { return over() || closed_; }
  std::uint64_t memory() const override;
  void consumed(std::size_t n) override;
  void released(std::size_t n) override { out_.released(n); }

 private:
  friend struct TlsTransport;
  static constexpr std::size_t kLargestRecord = 16 << 10;  // bytes of plain text

  void proceed(Time now) override;
  bool begin(Time now);
  Bytes greeting(Bytes more, Time now);
  void shake_hands(Time now);
  std::string late_words() const override;
  std::string end_words() const;
  std::string handshake_words() const;
  std::string certificate_words() const;
  void decrypt(Time now);
  void offer_plain(Time now);
  void encrypt(Time now);
  std::size_t encrypt(const Segment& segment, Time now);
  bool inner_shows(Segment& first) const { return inner().output({&first, 1}) > 0; }

  const TlsContext& context_;
  // Null before a client has begun its greeting, and after a handshake that has failed: a peer that sends
  // nothing takes no memory of the library.
  std::unique_ptr<SSL, FreeSsl> ssl_;
  std::unique_ptr<ConnectionShare> handshake_;  // a server's handshake, while it lasts
  HelloGate gate_;
  std::string first_;  // the bytes of a greeting's head that have arrived
  Bytes in_;           // the current input: bytes that the library has not read yet
  Outbox out_;         // ciphertext
  std::unique_ptr<std::array<std::byte, kLargestRecord>> record_;  // decrypted
  Bytes plain_;                 // the part of record_ that the inner session does not want yet
  Time now_{};                  // time of the last input
  bool closed_ = false;         // close_notify is written: nothing more is sent, but bytes are still received
  bool peer_closed_ = false;    // the peer's close_notify has arrived, or its stream has ended
  bool was_cut_ = false;        // its stream has ended without one
  bool told_finished_ = false;  // the inner session knows that the peer has finished
};

}  // namespace joust
