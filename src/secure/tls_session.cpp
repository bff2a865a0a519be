// SPDX-License-Identifier: MIT
#include "secure/tls_session.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "connection/stream_connection.hpp"

namespace joust {
namespace {

constexpr std::byte kHandshake{22};  // the type of a record that is not encrypted
constexpr std::byte kClientHello{1};

}  // namespace

// Passes a head on without its last byte until the head is found good: so far it announces nothing to the
// library.
std::size_t HelloGate::allowed(Bytes chunk) {
  std::size_t at = 0;
  while (at < chunk.size() && !refused_) {
    if (const std::size_t rest = std::min(left_, chunk.size() - at); rest > 0) {
      left_ -= rest;
      at += rest;
      continue;
    }
    head_[size_++] = chunk[at];
    if (size_ == head_needed()) {
      refused_ = !is_allowed();
      if (refused_) break;
      left_ = record() - (size_ - kRecordHead);
      size_ = 0;
      greeted_ = true;
    }
    ++at;
  }
  return at;
}

std::size_t HelloGate::head_needed() const {
  return head_[0] == kHandshake ? kRecordHead + kMessageHead : kRecordHead;
}

// Allows a second ClientHello: a server that wants another key share gets two.
bool HelloGate::is_allowed() const {
  if (head_[0] != kHandshake) return greeted_;
  const auto hello = std::to_integer<std::size_t>(head_[6]) << 16 |
                     std::to_integer<std::size_t>(head_[7]) << 8 | std::to_integer<std::size_t>(head_[8]);
  return head_[5] == kClientHello && hello <= kLargestHello && record() == kMessageHead + hello;
}

std::size_t HelloGate::record() const {
  return std::to_integer<std::size_t>(head_[3]) << 8 | std::to_integer<std::size_t>(head_[4]);
}

// The transport of the library: reads the bytes that the engine has received, and writes into the outbox.
struct TlsTransport {
  static TlsSession& session(BIO* bio) { return *static_cast<TlsSession*>(::BIO_get_data(bio)); }

  static int read(BIO* bio, char* into, std::size_t size, std::size_t* taken) {
    Bytes& in = session(bio).in_;
    ::BIO_clear_retry_flags(bio);
    *taken = std::min(size, in.size());
    if (*taken == 0) {
      ::BIO_set_retry_read(bio);
      return 0;
    }
    std::memcpy(into, in.data(), *taken);
    in = in.subspan(*taken);
    return 1;
  }
  static int write(BIO* bio, const char* bytes, std::size_t size, std::size_t* taken) {
    try {
      session(bio).out_.append(Bytes(reinterpret_cast<const std::byte*>(bytes), size));
    } catch (const std::bad_alloc&) {
      return 0;  // the library is C: nothing may be thrown through it
    }
    *taken = size;
    return 1;
  }
  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  // Made once; never freed, because connections of other threads may outlive any static object.
  static const BIO_METHOD* method() {
    static const BIO_METHOD* const made = [] {
      BIO_METHOD* const method =
          ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "joust session");
      if (method == nullptr || ::BIO_meth_set_read_ex(method, read) != 1 ||
          ::BIO_meth_set_write_ex(method, write) != 1 || ::BIO_meth_set_ctrl(method, control) != 1)
        throw std::bad_alloc();
      return method;
    }();
    return made;
  }
};

namespace {

constexpr std::size_t kMostBytesWaiting = 256 << 10;  // ciphertext
// The memory that the library takes for a connection, roughly, in bytes: its state, and the record that it
// reads.
constexpr std::size_t kOfLibrary = 40 << 10;

// A record with a fatal alert: unexpected_message (RFC 8446, 6).
constexpr std::string_view kUnexpected("\x15\x03\x03\x00\x02\x02\x0a", 7);

// The library has a reason for each alert that a peer may send.
bool is_alert(int reason) {
  return reason > SSL_AD_REASON_OFFSET;
}

// Returns a text such as "TLS alert: illegal parameter". The library's own text names obsolete versions
// ("sslv3 alert ...").
std::string alert_name(int reason) {
  return std::string("TLS alert: ") + ::SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET);
}

// Describes the library's last error on this thread. The library's error queue is empty afterwards.
std::string last_words() {
  std::string words = "closed by the peer";
  while (const unsigned long error = ::ERR_get_error()) {
    const char* const text = ::ERR_reason_error_string(error);
    if (const int reason = ERR_GET_REASON(error); is_alert(reason))
      words = "ended by the peer (" + alert_name(reason) + ")";
    else if (text != nullptr)
      words = text;
  }
  return words;
}

}  // namespace

TlsSession::TlsSession(const TlsContext& context, Service& service, const ConnectionInfo& info)
    : GuardedSession(service, info), context_(context) {
  if (!context_.is_server()) begin({});
}

TlsSession::~TlsSession() = default;

// Begins a handshake. Returns false if a server has no place for one more handshake.
bool TlsSession::begin(Time now) {
  if (context_.is_server()) {
    handshake_ = ConnectionShare::take(context_.handshakes(), info().peer, info().connection, now);
    if (!handshake_) return false;
  }
  ssl_ = context_.open();
  BIO* const bio = ::BIO_new(TlsTransport::method());
  if (bio == nullptr) throw std::bad_alloc();
  ::BIO_set_data(bio, this);
  ::BIO_set_init(bio, 1);
  ::SSL_set_bio(ssl_.get(), bio, bio);  // the connection owns the BIO
  return true;
}

std::size_t TlsSession::on_bytes(Bytes chunk, Time now) {
  const bool is_stranger = !is_open() && !over() && context_.is_server();
  const std::size_t allowed = is_stranger ? gate_.allowed(chunk) : chunk.size();
  in_ = chunk.first(allowed);
  if (is_stranger && !ssl_) in_ = greeting(in_, now);
  proceed(now);
  if (ssl_) first_ = {};
  if (allowed < chunk.size() && is_open()) {  // a peer that has opened the session is trusted
    in_ = chunk.subspan(allowed - in_.size());
    proceed(now);
  } else if (allowed < chunk.size() && !over()) {
    out_.append(kUnexpected);
    fail("TLS: the handshake failed: what came is no greeting of this program", now);
    proceed(now);
  }
  const Bytes left = std::exchange(in_, {});
  return peer_closed_ || over() ? chunk.size() : chunk.size() - left.size();  // later bytes are ignored
}

// Returns the bytes of an unknown peer's ClientHello that have arrived, once its head is good and the
// library's connection exists; nothing before.
Bytes TlsSession::greeting(Bytes more, Time now) {
  first_ += as_text(more);
  if (!gate_.greeted()) return {};
  if (begin(now)) return as_bytes(first_);
  fail("TLS: too many peers are shaking hands", now, Stage::local);
  return {};
}

std::string TlsSession::late_words() const {
  return context_.has_token() ? "the peer has not proven within 5 s that it knows the token"
                              : "TLS: the handshake was not over within 5 s: does the server speak TLS here?";
}

// Describes a failed handshake with a server that should have a certificate.
std::string TlsSession::certificate_words() const {
  const int reason = ERR_GET_REASON(::ERR_peek_last_error());
  const std::string words = last_words();
  const long verified = ::SSL_get_verify_result(ssl_.get());
  if (reason == SSL_R_WRONG_VERSION_NUMBER) return "TLS: the server does not speak TLS at this address";
  if (reason != SSL_R_CERTIFICATE_VERIFY_FAILED) return "TLS: the handshake failed: " + words;
  if (verified == X509_V_ERR_HOSTNAME_MISMATCH || verified == X509_V_ERR_IP_ADDRESS_MISMATCH)
    return "TLS: the server's certificate is not for '" + context_.name() +
           "': --tls-name says another name, --tls-insecure takes any certificate";
  return std::string("TLS: the server's certificate is not trusted (") +
         ::X509_verify_cert_error_string(verified) +
         "): --tls-ca FILE has the certificates to trust, --tls-insecure takes any";
}

std::string TlsSession::end_words() const {
  if (is_open()) return "TLS: the stream was cut: it ended without a close";
  return context_.is_server() ? "TLS: the peer left while shaking hands"
                              : "TLS: the server closed the connection while shaking hands";
}

// Describes a failed handshake by the mistakes that the user may have made.
std::string TlsSession::handshake_words() const {
  if (!context_.has_token()) return certificate_words();
  const bool is_server = context_.is_server();
  const int reason = ERR_GET_REASON(::ERR_peek_last_error());
  const std::string words = last_words();
  if (is_server || (!is_alert(reason) && reason != SSL_R_WRONG_VERSION_NUMBER))
    return std::string("TLS: the handshake failed, as it does where the tokens differ") +
           (is_server ? "" : ", or where another program answers") + " (" + words + ")";
  if (is_alert(reason))
    return "the server refuses the token: have both sides the same? (" + alert_name(reason) + ")";
  return "the server does not speak TLS: was it started with a token?";  // no record of TLS
}

// Reports a closed connection, but not with Stage::verify: the peer may be full or stopping, and another
// attempt may succeed.
void TlsSession::on_peer_finished(Time now) {
  if (!peer_closed_ && (context_.has_token() || !is_open())) fail(end_words(), now, Stage::receive);
  was_cut_ = !peer_closed_;
  peer_closed_ = true;
  proceed(now);
}

std::uint64_t TlsSession::memory() const {
  return GuardedSession::memory() + out_.size() + (ssl_ ? kOfLibrary : 0) + (record_ ? record_->size() : 0);
}

Want TlsSession::want() const {
  if (over() || !is_open()) return Want::bytes;
  const bool full = out_.size() >= kMostBytesWaiting || !plain_.empty();
  return full || inner().want() == Want::nothing ? Want::nothing : Want::bytes;
}

void TlsSession::consumed(std::size_t n) {
  out_.consumed(n);
  proceed(now_);
}

void TlsSession::proceed(Time now) {
  now_ = now;
  ::ERR_clear_error();  // the error queue belongs to the thread: another connection may have left an error
  if (!over() && !is_open() && ssl_) shake_hands(now);
  if (over() && !is_open()) {
    ssl_.reset();
    handshake_.reset();
  }
  if (over() || !is_open()) return;
  offer_plain(now);
  decrypt(now);
  encrypt(now);
}

void TlsSession::shake_hands(Time now) {
  const int result = ::SSL_do_handshake(ssl_.get());
  if (result != 1) {
    if (::SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ) fail(handshake_words(), now);
    return;
  }
  if (context_.has_token() && ::SSL_session_reused(ssl_.get()) != 1)
    return fail("TLS: the peer did not use the token", now);
  handshake_.reset();
  record_ = std::make_unique_for_overwrite<std::array<std::byte, kLargestRecord>>();
  let_in(now);
}

// Stops when the inner session wants no more bytes: up to one record stays here, and the rest with the
// engine.
void TlsSession::decrypt(Time now) {
  while (!over() && !peer_closed_ && plain_.empty() && out_.size() < kMostBytesWaiting &&
         inner().want() != Want::nothing) {
    std::size_t size = 0;
    const int result = ::SSL_read_ex(ssl_.get(), record_->data(), record_->size(), &size);
    if (result != 1) {
      const int error = ::SSL_get_error(ssl_.get(), result);
      if (error == SSL_ERROR_WANT_READ && in_.empty()) return;
      if (error == SSL_ERROR_WANT_READ) continue;  // that was a record without data
      if (error != SSL_ERROR_ZERO_RETURN) return fail("TLS: " + last_words(), now, Stage::receive);
      peer_closed_ = true;
    }
    plain_ = Bytes(*record_).first(size);
    offer_plain(now);
  }
}

void TlsSession::offer_plain(Time now) {
  plain_ = plain_.subspan(deliver(plain_, inner(), now));
  if (!plain_.empty() || !peer_closed_ || std::exchange(told_finished_, true)) return;
  // A message that ends with the stream would pass for whole, wherever an attacker has cut it.
  if (was_cut_ && !inner().finished()) return fail(end_words(), now, Stage::receive);
  inner().on_peer_finished(now);
}

void TlsSession::encrypt(Time now) {
  Segment first;
  while (!over() && !closed_ && out_.size() < kMostBytesWaiting && inner_shows(first)) {
    const std::size_t taken = encrypt(first, now);
    if (taken == 0) continue;  // the session has other output now, or has failed
    inner().consumed(taken);
    inner().released(taken);
    decrypt(now);  // the inner session may want more than before
  }
  if (over() || closed_ || !inner().finished() || inner_shows(first)) return;
  ::SSL_shutdown(ssl_.get());  // writes the close_notify
  closed_ = true;
}

// Encrypts one record. Returns the number of bytes that it took from the segment.
std::size_t TlsSession::encrypt(const Segment& segment, Time now) {
  std::array<std::byte, kLargestRecord> read;
  Bytes plain = segment.bytes.first(std::min(segment.bytes.size(), kLargestRecord));
  if (segment.in_file()) {
    const auto room = std::span(read).first(std::min<std::uint64_t>(segment.file.size, read.size()));
    const auto size = segment.file.file->read_at(segment.file.offset, room);
    if (size.value_or(0) == 0) {
      inner().files()->on_source_failed(size ? 0 : size.error(), now);
      return 0;
    }
    plain = room.first(*size);
  }
  std::size_t taken = 0;
  if (::SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &taken) == 1) return taken;
  fail("TLS: " + last_words(), now, Stage::send);
  return 0;
}

}  // namespace joust
