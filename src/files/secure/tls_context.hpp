// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/ssl.h>

#include <memory>

#include "base/shares.hpp"
#include "files/secure/guard.hpp"

namespace joust {

struct FreeSsl {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};

// The state that all TLS connections of one side share. TLS 1.3 only. The token is an external pre-shared key
// (RFC 8446, 4.2.11) together with ephemeral Diffie-Hellman: both sides prove that they know it, and a later
// disclosure of the token does not reveal earlier traffic. Certificates, tickets, early data and
// renegotiation are not used. Any thread.
class TlsContext {
 public:
  TlsContext(GuardSide side, const Token& token);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Returns a connection without a transport. Throws std::bad_alloc.
  std::unique_ptr<SSL, FreeSsl> open() const;
  bool is_server() const { return side_ == GuardSide::server; }
  // A server's handshakes under way. Beyond the limit the oldest ones of the address with the most handshakes
  // end: each handshake takes some 50 KiB of memory.
  Shares& handshakes() const { return handshakes_; }

 private:
  const GuardSide side_;
  const Token::Key key_;
  std::unique_ptr<SSL_CTX, FreeSsl> context_;
  mutable Shares handshakes_{1000, Shares::kTogether, Duration::zero()};
};

}  // namespace joust
