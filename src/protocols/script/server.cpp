// SPDX-License-Identifier: MIT
//
// The server side of script: answers each message that a script has, as the script says.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/text.hpp"
#include "protocols/script/script.hpp"
#include "session/handler_session.hpp"

namespace joust::script {
namespace {

constexpr std::uint64_t kLeastRate = 1024;  // bytes per second; see RequestResponse::least_rate
// Bytes of a request, whose form is looked for among all messages: more would keep other peers waiting.
constexpr std::size_t kLargestRequest = 64 << 10;
constexpr std::size_t kShown = 60;  // bytes of a message in a complaint

class ScriptHandler final : public Handler {
 public:
  explicit ScriptHandler(std::shared_ptr<const Script> script) : script_(std::move(script)) {}

  bool on_message(Bytes message, Writer& replies) override {
    if (message.size() > kLargestRequest)
      return refuse(fmt::format("a request has more than {} bytes", kLargestRequest));
    if (!std::exchange(begun_, true) && script_->first && script_->first->match(message))
      return reply(*script_->first_answer, nullptr, message, replies);
    for (const Message& one : script_->messages) {
      const auto request = one.send.match(message);
      if (!request) continue;
      if (one.answer) return reply(*one.answer, &*request, message, replies);
      ++answered_;
      replies.send(message);  // the only other reply is an echo
      return true;
    }
    if (script_->last && script_->last->match(message)) return false;  // the peer's end
    return refuse(
        fmt::format("no message of the script is '{}'", printable(as_text(message).substr(0, kShown))));
  }
  std::string_view complaint() const override { return complaint_; }

 private:
  bool reply(const Template& answer, const Rendered* request, Bytes message, Writer& replies) {
    const MessageNumber number{.number = answered_, .seed = script_->seed};
    if (request != nullptr) ++answered_;
    if (const auto made = answer.render(number, request, message, reply_); !made) return refuse(made.error());
    replies.send(reply_.bytes);
    return true;
  }

  bool refuse(std::string complaint) {
    complaint_ = std::move(complaint);
    return false;
  }

  const std::shared_ptr<const Script> script_;
  bool begun_ = false;  // the first message has come
  std::uint64_t answered_ = 0;
  Rendered reply_;
  std::string complaint_;
};

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& parameters) {
  auto script = script_of(parameters);
  check_server(*script);
  return std::make_unique<HandlerService>(
      Own{script->requests.cutter}, [script] { return std::make_unique<ScriptHandler>(script); },
      RateRules::of(kLeastRate), true);
}

}  // namespace joust::script
