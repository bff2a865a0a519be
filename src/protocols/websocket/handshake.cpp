// SPDX-License-Identifier: MIT
#include "protocols/websocket/handshake.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include <array>
#include <span>

#include "base/bytes.hpp"
#include "protocols/http/messages.hpp"
#include "protocols/websocket/message.hpp"

namespace joust::websocket {
namespace {

namespace beast = boost::beast::http;
using beast::field;

constexpr std::size_t kKeySize = 16, kKeyText = 24;  // bytes of a key, and of its base64

const unsigned char* octets(const void* bytes) {
  return static_cast<const unsigned char*>(bytes);
}

std::string base64(std::span<const unsigned char> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

bool is_key(std::string_view text) {
  std::array<unsigned char, kKeySize + 2> bytes{};  // the padding is decoded too
  return text.size() == kKeyText && text.ends_with("==") &&
         EVP_DecodeBlock(bytes.data(), octets(text.data()), static_cast<int>(text.size())) ==
             static_cast<int>(bytes.size());
}

// The parser of a head, which reads no body.
template <bool isRequest>
class Head : public beast::parser<isRequest, beast::empty_body> {
 public:
  explicit Head(Bytes bytes) {
    this->header_limit(kLargestHandshake);
    this->put({bytes.data(), bytes.size()}, error_);
    if (!this->is_header_done() && !error_) error_ = beast::error::partial_message;
  }
  std::string error() const { return this->is_header_done() ? "" : error_.message(); }

  std::string_view text(field name) const {
    const auto value = this->get()[name];
    return {value.data(), value.size()};
  }
  bool has_token(field name, std::string_view token) const {
    return beast::token_list{this->get()[name]}.exists({token.data(), token.size()});
  }
  bool has_once(field name) const { return this->get().count(name) == 1; }
  bool has_many(field name) const { return this->get().count(name) > 1; }
  bool has_body() const { return this->chunked() || this->content_length().value_or(0) > 0; }

 private:
  boost::beast::error_code error_;
};

}  // namespace

std::string key_of(std::uint64_t first_half, std::uint64_t second_half) {
  std::array<std::byte, kKeySize> bytes{};
  write_big_endian(first_half, bytes.data());
  write_big_endian(second_half, bytes.data() + sizeof first_half);
  return base64({octets(bytes.data()), bytes.size()});
}

std::string accept_of(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(octets(text.data()), text.size(), digest.data());
  return base64(digest);
}

std::expected<std::string, Violation> key_in(Bytes bytes) {
  const auto refused = [](std::uint16_t status, std::string_view words) {
    return std::unexpected(Violation{status, words});
  };
  const Head<true> head(bytes);
  if (!head.error().empty()) return refused(400, "the head is not one of HTTP/1.1");
  if (!boost::beast::websocket::is_upgrade(head.get()))
    return refused(426, "this server speaks WebSocket only: a GET of HTTP/1.1 must ask for it by Upgrade");
  if (!head.has_once(field::sec_websocket_version) || head.text(field::sec_websocket_version) != "13")
    return refused(426, "the version of WebSocket must be 13");
  if (!head.has_once(field::host)) return refused(400, "a request must have one field Host");
  if (head.has_body()) return refused(400, "a handshake has no body");
  const std::string_view key = head.text(field::sec_websocket_key);
  if (!head.has_once(field::sec_websocket_key) || !is_key(key))
    return refused(400, "Sec-WebSocket-Key must be 16 bytes in base64");
  return std::string(key);
}

std::string objection_to_answer(Bytes bytes, std::string_view key) {
  const Head<false> head(bytes);
  if (!head.error().empty()) return "the answer to the handshake is not HTTP/1.1: " + head.error();
  if (head.get().result_int() != 101)
    return fmt::format("the server answers the handshake by the status {} {}, and not by 101",
                       head.get().result_int(),
                       http::snippet({head.get().reason().data(), head.get().reason().size()}));
  if (!head.has_token(field::upgrade, "websocket") || !head.has_token(field::connection, "upgrade"))
    return "the answer to the handshake has not both of 'Upgrade: websocket' and 'Connection: Upgrade'";
  if (head.has_body()) return "the answer to the handshake has a Content-Length or a Transfer-Encoding";
  if (head.has_many(field::sec_websocket_accept))
    return "the answer to the handshake has the field Sec-WebSocket-Accept more than once";
  if (const std::string right = accept_of(key), accept(head.text(field::sec_websocket_accept));
      accept != right)
    return fmt::format("the answer to the handshake has the Sec-WebSocket-Accept '{}', and '{}' is right",
                       http::snippet(accept), right);
  for (const field name : {field::sec_websocket_extensions, field::sec_websocket_protocol})
    if (!head.text(name).empty() || head.has_many(name))
      return fmt::format("the server agrees to what was not asked for: {}: {}",
                         std::string_view(to_string(name).data(), to_string(name).size()),
                         http::snippet(head.text(name)));
  return {};
}

}  // namespace joust::websocket
