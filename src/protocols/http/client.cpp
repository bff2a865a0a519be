// SPDX-License-Identifier: MIT
//
// The client side of http: asks for one path, and checks status, length and body of every reply.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "load/request_service.hpp"
#include "protocols/http/excerpt.hpp"
#include "protocols/http/messages.hpp"
#include "protocols/http/options.hpp"
#include "protocols/http/protocol.hpp"
#include "protocols/http/reply_cutter.hpp"

namespace joust::http {
namespace {

std::unique_ptr<Cutter> reply_cutter() {
  return std::make_unique<ReplyCutter>();
}

class GetExchange : public Exchange {
 public:
  // `body`: the right one; empty if any is.
  GetExchange(const GetRequest& get, std::optional<std::string> body) : get_(get), body_(std::move(body)) {}

  void write_request(std::uint64_t /*number*/, Writer& request) override { request.send(get_.text); }

  MessageKind classify(std::uint64_t /*number*/, Bytes reply) override {
    // Nearly all replies within a second are the same, date included.
    if (same_bytes(reply, right_)) return right_kind_;
    const std::string_view all = as_text(reply);
    const std::size_t size = all.find("\r\n\r\n") + 4;
    const auto head = parse_reply(reply.first(size));
    if (!head) return refuse(head.error());
    const std::string_view body = all.substr(size);
    if (head->status != 200)
      return refuse(fmt::format("the status of a reply is {}, and not 200; its body begins with '{}'",
                                head->status, excerpt(body)));
    if (body_ && body != *body_) return refuse(difference(body));
    right_.assign(reply.begin(), reply.end());
    return right_kind_ = head->is_last ? MessageKind::last_reply : MessageKind::reply;
  }
  std::string_view complaint() const override { return complaint_; }

 private:
  MessageKind refuse(std::string_view complaint) {
    complaint_ = fmt::format("GET {}: {}", printable(get_.path), complaint);
    return MessageKind::wrong;
  }

  std::string difference(std::string_view body) const {
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(body, *body_).in1 - body.begin());
    const auto end = [at](std::string_view text) {
      return at == text.size() ? "its end" : fmt::format("'{}'", excerpt(text.substr(at)));
    };
    return fmt::format(
        "the body of a reply is not that of --text: {} of its {} bytes are right, then comes {}, and not {}",
        at, body.size(), end(body), end(*body_));
  }

  const GetRequest get_;
  const std::optional<std::string> body_;
  std::vector<std::byte> right_;  // the last reply that was checked as a whole
  MessageKind right_kind_{};      // the kind of that reply
  std::string complaint_;
};

}  // namespace

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  std::optional<std::string> body;
  if (parameters.option("body") == "text") body = parameters.option("text");
  return std::make_unique<RequestService>(
      Own{reply_cutter}, parameters,
      [get = get_request(parameters), body](const Parameters&) {
        return std::make_unique<GetExchange>(get, body);
      },
      run);
}

}  // namespace joust::http
