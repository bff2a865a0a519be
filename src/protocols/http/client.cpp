// SPDX-License-Identifier: MIT
//
// The client side of http: asks for one path, and looks at status, length and body of every reply.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "load/request_service.hpp"
#include "protocols/http/head_cutter.hpp"
#include "protocols/http/messages.hpp"
#include "protocols/http/options.hpp"
#include "protocols/http/protocol.hpp"

namespace joust::http {
namespace {

constexpr std::size_t kLargestReply = 1 << 20;  // bytes

std::optional<std::size_t> body_size(Bytes head) {
  const auto reply = parse_reply(head);
  return reply ? std::optional<std::size_t>(reply->content_length) : std::nullopt;
}

constexpr Headed kReplies{.body_size = body_size, .largest_head = kLargestHead, .largest = kLargestReply};

class GetExchange : public Exchange {
 public:
  GetExchange(std::string request, std::string body) : request_(std::move(request)), body_(std::move(body)) {}

  void write_request(std::uint64_t /*number*/, Writer& request) override { request.send(request_); }

  bool verify(std::uint64_t /*number*/, Bytes reply) override {
    // Nearly all replies within a second are the same, date included.
    if (same_bytes(reply, right_)) return true;
    const std::string_view all = as_text(reply);
    const std::size_t head = all.find("\r\n\r\n") + 4;
    const auto parsed = parse_reply(reply.first(head));
    if (!parsed) return refuse(std::string(parsed.error()));
    if (parsed->status != 200)
      return refuse(fmt::format("the status of a reply is {}, and not 200", parsed->status));
    if (all.substr(head) != body_) return refuse("the body of a reply is not that of --text");
    right_.assign(reply.begin(), reply.end());
    return true;
  }
  std::string_view complaint() const override { return complaint_; }

 private:
  bool refuse(std::string complaint) {
    complaint_ = std::move(complaint);
    return false;
  }

  const std::string request_;
  const std::string body_;
  std::vector<std::byte> right_;  // the last reply that was looked at as a whole
  std::string complaint_ = "what came is no reply of HTTP/1.1";
};

}  // namespace

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  return std::make_unique<RequestService>(
      kReplies, parameters,
      [request = request_text(parameters), body = parameters.option("text")](const Parameters&) {
        return std::make_unique<GetExchange>(request, body);
      },
      run);
}

}  // namespace joust::http
