// SPDX-License-Identifier: MIT
//
// The server side of websocket: sends back every message as it came.
#include "protocols/websocket/message_cutter.hpp"
#include "protocols/websocket/protocol.hpp"
#include "protocols/websocket/server_side.hpp"
#include "session/handler_session.hpp"

namespace joust::websocket {
namespace {

constexpr std::uint64_t kLeastRate = 1024;  // bytes per second; see RequestResponse::least_rate

class WebSocketHandler final : public Handler {
 public:
  bool on_message(Bytes bytes, Writer& replies) override {
    const ServerSide::Step step = side_.take(Message::read(bytes), bytes, replies);
    if (step == ServerSide::Step::message) replies.send(bytes);
    return step != ServerSide::Step::ended;
  }
  std::string_view complaint() const override { return side_.complaint(); }
  void write_last(Writer& last) override { side_.go_away(last); }

 private:
  ServerSide side_;
};

}  // namespace

std::unique_ptr<Service> make_server(const Parameters& /*parameters*/) {
  return std::make_unique<HandlerService>(
      Own{[] { return std::make_unique<MessageCutter>(Role::dial); }},
      [] { return std::make_unique<WebSocketHandler>(); }, RateRules::of(kLeastRate));
}

}  // namespace joust::websocket
