// SPDX-License-Identifier: MIT
#include "secure/tls_context.hpp"

#include <openssl/err.h>

#include <array>
#include <cstring>
#include <new>
#include <string_view>

namespace joust {
namespace {

// The name of the only key. A client that names another key has no key that the server knows.
constexpr std::string_view kIdentity = "joust";
// The accepted ciphers. Both hash with SHA-256, as the key must; the second one is for a peer that has no
// other.
constexpr auto kCiphers = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
constexpr std::array<unsigned char, 2> kCipherOfKey{0x13, 0x01};  // TLS_AES_128_GCM_SHA256

const Token::Key& key_of(SSL* ssl) {
  return *static_cast<const Token::Key*>(SSL_CTX_get_app_data(::SSL_get_SSL_CTX(ssl)));
}

// Returns the key in the form that the library needs. Null without memory.
SSL_SESSION* session_with_key(SSL* ssl) {
  const Token::Key& key = key_of(ssl);
  const SSL_CIPHER* const cipher = ::SSL_CIPHER_find(ssl, kCipherOfKey.data());
  SSL_SESSION* const session = cipher == nullptr ? nullptr : ::SSL_SESSION_new();
  if (session == nullptr) return nullptr;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(key.data());
  if (::SSL_SESSION_set1_master_key(session, bytes, key.size()) == 1 &&
      ::SSL_SESSION_set_cipher(session, cipher) == 1 &&
      ::SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  ::SSL_SESSION_free(session);
  return nullptr;
}

int use_key(SSL* ssl, const EVP_MD* hash, const unsigned char** identity, std::size_t* size,
            SSL_SESSION** session) {
  *session = session_with_key(ssl);
  if (*session == nullptr) return 0;
  // After a retry the hash is fixed, and a key for another hash would be of no use.
  if (hash != nullptr && ::SSL_CIPHER_get_handshake_digest(::SSL_SESSION_get0_cipher(*session)) != hash) {
    ::SSL_SESSION_free(*session);
    *session = nullptr;
  }
  *identity = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *size = kIdentity.size();
  return 1;
}

int find_key(SSL* ssl, const unsigned char* identity, std::size_t size, SSL_SESSION** session) {
  *session = nullptr;
  if (size != kIdentity.size() || std::memcmp(identity, kIdentity.data(), size) != 0) return 1;
  *session = session_with_key(ssl);
  return *session == nullptr ? 0 : 1;
}

void set_common(SSL_CTX* context, int least_version) {
  if (context == nullptr) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context, least_version);
  ::SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE);
  // Otherwise one call would answer any number of key updates.
  SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
}

void load_trusted(SSL_CTX* context, const std::string& file) {
  ::ERR_clear_error();
  const bool loaded = file.empty() ? ::SSL_CTX_set_default_verify_paths(context) == 1
                                   : ::SSL_CTX_load_verify_file(context, file.c_str()) == 1;
  if (loaded) return;
  const unsigned long error = ::ERR_peek_error();
  const char* const reason =
      ERR_SYSTEM_ERROR(error) ? std::strerror(ERR_GET_REASON(error)) : ::ERR_reason_error_string(error);
  ::ERR_clear_error();
  const std::string why = reason == nullptr ? "no PEM file with a certificate" : reason;
  if (file.empty())
    throw std::runtime_error("TLS: no trusted certificates in the places of the system: " + why +
                             "; --tls-ca names such a file");
  throw std::invalid_argument("--tls-ca: TLS: no trusted certificates in " + file + ": " + why);
}

}  // namespace

TlsContext::TlsContext(GuardSide side, const Token& token)
    : side_(side),
      key_(token.key_for("joust TLS 1.3 pre-shared key")),
      context_(::SSL_CTX_new(side == GuardSide::server ? ::TLS_server_method() : ::TLS_client_method())) {
  SSL_CTX* const context = context_.get();
  set_common(context, TLS1_3_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_num_tickets(context, 0);
  if (::SSL_CTX_set_ciphersuites(context, kCiphers) != 1) throw std::runtime_error("TLS: no cipher");
  SSL_CTX_set_app_data(context, const_cast<Token::Key*>(&*key_));
  if (side == GuardSide::server) {
    ::SSL_CTX_set_psk_find_session_callback(context, find_key);
    return;
  }
  ::SSL_CTX_set_psk_use_session_callback(context, use_key);
  // A server without the key may send a certificate. Every certificate is rejected: no trust store is loaded.
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
}

TlsContext::TlsContext(const ServerTrust& trust)
    : side_(GuardSide::client), trust_(trust), context_(::SSL_CTX_new(::TLS_client_method())) {
  SSL_CTX* const context = context_.get();
  set_common(context, TLS1_2_VERSION);
  // An IP address is not sent as a name (RFC 6066, 3), and a certificate has it in another place.
  X509_VERIFY_PARAM* const verified = ::SSL_CTX_get0_param(context);
  const bool is_address = ::X509_VERIFY_PARAM_set1_ip_asc(verified, trust.name.c_str()) == 1;
  sends_name_ = !is_address && !trust.name.empty();
  ::ERR_clear_error();
  if (!trust.verified) return;
  if (sends_name_ && ::X509_VERIFY_PARAM_set1_host(verified, trust.name.c_str(), trust.name.size()) != 1)
    throw std::invalid_argument("TLS: '" + trust.name +
                                "' is no name of a server; --tls-name says another one");
  load_trusted(context, trust.ca_file);
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
}

std::unique_ptr<SSL, FreeSsl> TlsContext::open() const {
  std::unique_ptr<SSL, FreeSsl> ssl(::SSL_new(context_.get()));
  if (!ssl) throw std::bad_alloc();
  if (side_ == GuardSide::server)
    ::SSL_set_accept_state(ssl.get());
  else
    ::SSL_set_connect_state(ssl.get());
  if (sends_name_ && SSL_set_tlsext_host_name(ssl.get(), trust_.name.c_str()) != 1) throw std::bad_alloc();
  return ssl;
}

}  // namespace joust
