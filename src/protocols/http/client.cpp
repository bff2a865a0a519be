// SPDX-License-Identifier: MIT
//
// The client side of http: sends the requests of its plan, and checks status, length and body of every reply.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "load/request_service.hpp"
#include "protocols/http/client_plan.hpp"
#include "protocols/http/excerpt.hpp"
#include "protocols/http/messages.hpp"
#include "protocols/http/protocol.hpp"
#include "protocols/http/reply_cutter.hpp"

namespace joust::http {
namespace {

// Bytes of a reply that each connection keeps for each path, so that the next one need not be parsed.
constexpr std::size_t kLargestKept = 16 << 10;

class HttpExchange final : public Exchange {
 public:
  HttpExchange(std::shared_ptr<const ClientPlan> plan, const Parameters& parameters)
      : plan_(std::move(plan)),
        connection_(parameters.connection),
        first_(parameters.first_request),
        right_(plan_->requests().size()) {}

  void write_request(std::uint64_t number, Writer& request) override {
    request.send(plan_->requests()[index_of(number)].text);
  }

  MessageKind classify(std::uint64_t number, Bytes reply) override {
    const std::size_t index = index_of(number);
    // Nearly all replies for a path within a second are the same, date included.
    Right& right = right_[index];
    if (same_bytes(reply, right.reply)) return right.kind;
    const std::string_view all = as_text(reply);
    const std::size_t size = all.find("\r\n\r\n") + 4;
    const auto head = parse_reply(reply.first(size), plan_->reply_to());
    if (!head) return refuse(index, head.error());
    const std::string_view body = all.substr(size);
    if (!plan_->status().contains(head->status))
      return refuse(index, fmt::format("the status of a reply is {}, and not {}; its body begins with '{}'",
                                       head->status, plan_->status().text(), excerpt(body)));
    if (plan_->body() && body != *plan_->body()) return refuse(index, difference(body));
    if (reply.size() <= kLargestKept)
      right.reply.assign(reply.begin(), reply.end());
    else
      right.reply.clear();
    return right.kind = head->is_last || plan_->closes() ? MessageKind::last_reply : MessageKind::reply;
  }
  std::string_view complaint() const override { return complaint_; }

 private:
  // The last reply for a path that was checked as a whole, and its kind.
  struct Right {
    std::vector<std::byte> reply{};
    MessageKind kind{};
  };

  std::size_t index_of(std::uint64_t number) const { return plan_->pick(connection_, first_ + number); }

  MessageKind refuse(std::size_t index, std::string_view complaint) {
    complaint_ =
        fmt::format("{} {}: {}", plan_->method(), printable(plan_->requests()[index].path), complaint);
    return MessageKind::wrong;
  }

  std::string difference(std::string_view body) const {
    const std::string_view right = *plan_->body();
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(body, right).in1 - body.begin());
    const auto end = [at](std::string_view text) {
      return at == text.size() ? "its end" : fmt::format("'{}'", excerpt(text.substr(at)));
    };
    return fmt::format(
        "the body of a reply is not that of --text: {} of its {} bytes are right, then comes {}, and not {}",
        at, body.size(), end(body), end(right));
  }

  const std::shared_ptr<const ClientPlan> plan_;
  const std::uint64_t connection_, first_;
  std::vector<Right> right_;
  std::string complaint_;
};

}  // namespace

std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run) {
  auto plan = std::make_shared<const ClientPlan>(parameters);
  return std::make_unique<RequestService>(
      Own{[to = plan->reply_to()] { return std::make_unique<ReplyCutter>(to); }}, parameters,
      [plan](const Parameters& own) { return std::make_unique<HttpExchange>(plan, own); }, run);
}

}  // namespace joust::http
