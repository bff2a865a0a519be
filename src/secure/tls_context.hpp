// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>

#include "base/shares.hpp"
#include "secure/guard.hpp"

namespace joust {

struct FreeSsl {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};

// The state that all TLS connections of one side share, which know each other by a token or the server by its
// certificate. Sessions are not resumed, and there is neither early data nor renegotiation. Any thread.
//
// With a token: TLS 1.3 only, without certificates. The token is an external pre-shared key
// (RFC 8446, 4.2.11) together with ephemeral Diffie-Hellman: both sides prove that they know it, and a later
// disclosure of the token does not reveal earlier traffic.
//
// With certificates: a client only, of TLS 1.2 and 1.3. Chain, validity and name of the server's certificate
// are verified.
class TlsContext {
 public:
  TlsContext(GuardSide side, const Token& token);
  // Throws as check_trust() does.
  explicit TlsContext(const ServerTrust& trust);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Returns a connection without a transport. Throws std::bad_alloc.
  std::unique_ptr<SSL, FreeSsl> open() const;
  bool is_server() const { return side_ == GuardSide::server; }
  bool has_token() const { return key_.has_value(); }
  const std::string& name() const { return trust_.name; }  // of the server; empty with a token
  // A server's handshakes under way. Beyond the limit the oldest ones of the address with the most handshakes
  // end: each handshake takes some 50 KiB of memory.
  Shares& handshakes() const { return handshakes_; }

 private:
  const GuardSide side_;
  const std::optional<Token::Key> key_{};  // empty with certificates
  const ServerTrust trust_{};
  bool sends_name_ = false;
  std::unique_ptr<SSL_CTX, FreeSsl> context_;
  mutable Shares handshakes_{1000, Shares::kTogether, Duration::zero()};
};

}  // namespace joust
