// SPDX-License-Identifier: MIT
//
// The client side of http: sends the requests of its plan, and checks status, length and body of every reply.
#include "protocols/http/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "load/request_service.hpp"
#include "protocols/http/heads.hpp"
#include "protocols/http/messages.hpp"
#include "protocols/http/protocol.hpp"
#include "protocols/http/target.hpp"

namespace joust::http {
namespace {

constexpr std::size_t kMostPaths = 1000, kLongestMethod = 20;
constexpr std::uint64_t kMostWeight = 1'000'000;
constexpr std::size_t kMostData = 64 << 10;      // bytes
constexpr std::size_t kMostFieldText = 8 << 10;  // bytes of all fields together

const std::string& method_of(const Parameters& parameters) {
  const std::string& method = parameters.option("method");
  const bool is_word = std::ranges::all_of(method, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!is_word || method.empty() || method.size() > kLongestMethod || method == "CONNECT")
    refuse_option("method", fmt::format("'{}' is no method such as GET, POST or DELETE", printable(method)));
  return method;
}

// Fields of requests that a user adds.
struct Fields {
  std::string lines{};  // each with its end
  bool close = false;   // one is "Connection: close"
};

Fields fields_of(const Parameters& parameters) {
  const std::string& given = parameters.option("header");
  if (given.size() > kMostFieldText)
    refuse_option("header", fmt::format("at most {} bytes together", kMostFieldText));
  Fields fields;
  for (const std::string_view line : split(given, '\n')) {
    if (line.empty()) continue;
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == line.npos || !is_one_word(name) || has_control(line))
      refuse_option("header", fmt::format("'{}' is no field: say 'Name: value'", printable(line)));
    if (is_token(name, "host")) refuse_option("header", "the field Host is that of --host");
    if (is_token(name, "content-length") || is_token(name, "transfer-encoding"))
      refuse_option("header", fmt::format("the field {} is that of the body (--data)", name));
    if (is_token(name, "connection"))
      for (const std::string_view token : split(line.substr(colon + 1), ','))
        fields.close = fields.close || is_token(trimmed(token), "close");
    fields.lines += fmt::format("{}\r\n", line);
  }
  return fields;
}

// Returns what follows the first line of each request.
std::string rest_of(const Parameters& parameters, const std::string& method, const std::string& fields) {
  const std::string &host = parameters.option("host"), &data = parameters.option("data");
  if (!is_one_word(host))
    refuse_option("host", fmt::format("'{}': say a name or an address", printable(host)));
  if (data.size() > kMostData) refuse_option("data", fmt::format("at most {} bytes", kMostData));
  constexpr std::array<std::string_view, 4> kWithoutBody{"GET", "HEAD", "OPTIONS", "TRACE"};
  const bool has_no_body = std::ranges::find(kWithoutBody, method) != kWithoutBody.end();
  if (!data.empty() && has_no_body)
    refuse_option("data", fmt::format("a request with the method {} has no body: say --method POST", method));
  const std::string size = data.empty() && (has_no_body || method == "DELETE")
                               ? ""
                               : fmt::format("Content-Length: {}\r\n", data.size());
  return fmt::format(" HTTP/1.1\r\nHost: {}\r\n{}{}\r\n{}", host, fields, size, data);
}

}  // namespace

RightStatus::RightStatus(const std::string& text) : text_(text) {
  if (text == "any") return;
  for (const std::string_view form : split(text, ',')) {
    const bool fits = form.size() == 3 && form[0] >= '1' && form[0] <= '5' &&
                      std::ranges::all_of(form, [](char c) { return c == 'x' || (c >= '0' && c <= '9'); });
    if (!fits)
      refuse_option("status",
                    fmt::format("'{}' is no list of statuses such as 200, 2xx or 200,304", printable(text)));
    if (form.starts_with('1'))
      refuse_option(
          "status",
          fmt::format("{}: a reply of 1xx comes before the last one of its request, which counts", form));
    forms_.emplace_back(form);
  }
}

bool RightStatus::contains(unsigned status) const {
  const std::string digits = std::to_string(status);
  const auto fits = [&](const std::string& form) {
    return std::ranges::equal(digits, form, [](char digit, char one) { return one == 'x' || digit == one; });
  };
  return forms_.empty() || std::ranges::any_of(forms_, fits);
}

ClientPlan::ClientPlan(const Parameters& parameters)
    : method_(method_of(parameters)), status_(parameters.option("status")) {
  const Fields fields = fields_of(parameters);
  closes_ = fields.close;
  add_paths(parameters.option("path"), method_ + " ", rest_of(parameters, method_, fields.lines));
  if (parameters.option("body") == "text" && method_ != "HEAD") body_ = parameters.option("text");
}

// A line is a path, or a weight and a path.
void ClientPlan::add_paths(const std::string& text, const std::string& before, const std::string& behind) {
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    std::uint64_t weight = 1;
    std::string_view path = line;
    if (const std::size_t blank = line.find(' '); blank != line.npos) {
      const auto given = parse_count(line.substr(0, blank));
      if (!given || *given == 0 || *given > kMostWeight)
        refuse_option("path",
                      fmt::format("'{}': say a path, or a weight from 1 to {} and a path: 3 /index.html",
                                  printable(line), kMostWeight));
      weight = *given;
      path = line.substr(blank + 1);
    }
    if (!path.starts_with('/') || !is_one_word(path) || path.size() > kLongestTarget)
      throw std::invalid_argument(
          fmt::format("--path '{}': say a path such as /index.html, without blanks and of at most {} bytes",
                      printable(path), kLongestTarget));
    if (requests_.size() == kMostPaths) refuse_option("path", fmt::format("at most {} paths", kMostPaths));
    requests_.push_back({.path = std::string(path), .text = fmt::format("{}{}{}", before, path, behind)});
    weights_.push_back(weight + (weights_.empty() ? 0 : weights_.back()));
  }
  if (requests_.empty()) refuse_option("path", "there is no path");
}

std::size_t ClientPlan::pick(std::uint64_t connection, std::uint64_t number) const {
  if (requests_.size() == 1) return 0;
  const std::uint64_t random = mixed((connection << 40) + number * kMixStep) % weights_.back();
  return static_cast<std::size_t>(std::ranges::upper_bound(weights_, random) - weights_.begin());
}

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
                                       head->status, plan_->status().text(), snippet(body)));
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
      return at == text.size() ? "its end" : fmt::format("'{}'", snippet(text.substr(at)));
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
  const auto bodies = plan->body() ? ReplyCutter::Bodies::kept : ReplyCutter::Bodies::counted;
  return std::make_unique<RequestService>(
      Own{[to = plan->reply_to(), bodies] { return std::make_unique<ReplyCutter>(to, bodies); }}, parameters,
      [plan](const Parameters& own) { return std::make_unique<HttpExchange>(plan, own); }, run);
}

}  // namespace joust::http
