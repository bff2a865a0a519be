// SPDX-License-Identifier: MIT
#include "conformance/services.hpp"

namespace joust::conformance {
namespace {

class EchoHandler : public Handler {
 public:
  explicit EchoHandler(bool go_on) : go_on_(go_on) {}
  bool on_message(Bytes message, Writer& replies) override {
    replies.send(message);
    return go_on_;
  }

 private:
  bool go_on_;
};

}  // namespace

EchoService::EchoService(Framing framing)
    : HandlerService(framing, [] { return std::make_unique<EchoHandler>(true); }) {}

OneAnswerService::OneAnswerService(Framing framing)
    : HandlerService(framing, [] { return std::make_unique<EchoHandler>(false); }) {}

}  // namespace joust::conformance
