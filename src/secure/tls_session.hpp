// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "base/connection_share.hpp"
#include "joust/outbox.hpp"
#include "secure/guarded_session.hpp"
#include "secure/hello_gate.hpp"
#include "secure/tls_context.hpp"

namespace joust {

// A session inside TLS. To an engine it is a session like any other; to the session inside, the engine:
//
//     engine --- ciphertext ---> on_bytes --- decrypt ---> the inner on_bytes, or its file
//     engine <-- ciphertext ---- output  <--- encrypt ---- the inner output, files read here
//
// Encryption happens on inputs and acknowledgements, because output() is a query. So the ciphertext that
// waits is limited, and files are read here: the kernel does not see what it sends. Both sides end with a
// close_notify; a stream that ends without one was cut, and fails.
class TlsSession : public GuardedSession {
 public:
  // The context and the service are borrowed.
  TlsSession(const TlsContext& context, Service& service, const Opening& opening);
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
  std::string end_words() const;
  std::string handshake_words() const;
  void decrypt(Time now);
  void offer_plain(Time now);
  void encrypt(Time now);
  std::size_t encrypt(const Segment& segment, Time now);
  bool inner_shows(Segment& first) const { return inner().output({&first, 1}) > 0; }

  const TlsContext& context_;
  // Null before a client has begun its greeting, and after a handshake that has failed: who says nothing
  // takes no memory of the library.
  std::unique_ptr<SSL, FreeSsl> ssl_;
  std::unique_ptr<ConnectionShare> handshake_;  // a server's, while it lasts
  HelloGate gate_;
  std::string first_;  // what has come of a greeting's head
  Bytes in_;           // of the input that is being taken: not read by the library yet
  Outbox out_;         // ciphertext
  std::unique_ptr<std::array<std::byte, kLargestRecord>> record_;  // decrypted
  Bytes plain_;                 // of record_: not wanted by the inner session yet
  Time now_{};                  // of the last input
  bool closed_ = false;         // by our close_notify: nothing more is said, but still heard
  bool peer_closed_ = false;    // by its close_notify
  bool told_finished_ = false;  // the inner session has been told
};

}  // namespace joust
