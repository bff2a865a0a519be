// SPDX-License-Identifier: MIT
//
// The server side of script: answers each message that a script has, as the script says.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/printable.hpp"
#include "protocols/script/protocol.hpp"
#include "protocols/script/script.hpp"
#include "session/handler_session.hpp"

namespace joust::script {
namespace {

constexpr std::uint64_t kLeastRate = 1024;  // bytes per second; see RequestResponse::least_rate
constexpr std::size_t kShown = 60;          // bytes of a message in a complaint

class ScriptHandler final : public Handler {
 public:
  explicit ScriptHandler(std::shared_ptr<const Script> script) : script_(std::move(script)) {}

  bool on_message(Bytes message, Writer& replies) override {
    const MessageNumber number{.number = answered_, .seed = script_->seed};
    if (const auto& first = script_->first; first && script_->first_answer && first->match(message)) {
      (void)script_->first_answer->render(number, nullptr, {}, reply_);
      replies.send(reply_.bytes);
      return true;
    }
    for (const Message& one : script_->messages) {
      if (one.expect.kind() == Expectation::Kind::echo && !one.answer && one.send.match(message)) {
        replies.send(message);
        ++answered_;
        return true;
      }
      if (!one.answer) continue;
      const auto request = one.send.match(message);
      if (!request) continue;
      (void)one.answer->render(number, &*request, message, reply_);
      replies.send(reply_.bytes);
      ++answered_;
      return true;
    }
    if (script_->last && script_->last->match(message)) return false;  // the peer's end
    complaint_ =
        fmt::format("no message of the script is '{}'", printable(as_text(message).substr(0, kShown)));
    return false;
  }
  std::string_view complaint() const override { return complaint_; }

 private:
  const std::shared_ptr<const Script> script_;
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
