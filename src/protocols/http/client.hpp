// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "joust/protocol.hpp"
#include "protocols/http/messages.hpp"

namespace joust::http {

// The statuses of a right reply.
class RightStatus {
 public:
  // Parses "200", "2xx", "200,204,3xx" or "any". Throws std::invalid_argument.
  explicit RightStatus(const std::string& text);
  bool contains(unsigned status) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> forms_{};  // of three characters, of which 'x' is any digit; none: any status
};

// One of the requests that a load sends.
struct ClientRequest {
  std::string path;
  std::string text;  // all of its bytes
};

// The requests of a load, and what is right of their replies. Immutable; any thread.
class ClientPlan {
 public:
  // Throws std::invalid_argument for options that do not fit.
  explicit ClientPlan(const Parameters& parameters);

  const std::string& method() const { return method_; }
  ReplyTo reply_to() const { return method_ == "HEAD" ? ReplyTo::head : ReplyTo::others; }
  const std::vector<ClientRequest>& requests() const { return requests_; }
  // Returns which of them is request `number` of a connection, by the weights of the paths. Every load picks
  // the same.
  std::size_t pick(std::uint64_t connection, std::uint64_t number) const;
  // Returns whether the requests ask the server to end the connection after its reply.
  bool closes() const { return closes_; }
  const RightStatus& status() const { return status_; }
  const std::optional<std::string>& body() const { return body_; }  // the right one; nothing: any

 private:
  void add_paths(const std::string& text, const std::string& before, const std::string& behind);

  std::string method_;
  bool closes_ = false;
  std::vector<ClientRequest> requests_;
  std::vector<std::uint64_t> weights_;  // of each request and those before it together
  RightStatus status_;
  std::optional<std::string> body_;
};

}  // namespace joust::http
