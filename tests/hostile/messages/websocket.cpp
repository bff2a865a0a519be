// SPDX-License-Identifier: MIT
//
// websocket: messages, also in fragments with control frames between them, and what no client may send.
#include "hostile/messages.hpp"
#include "protocols/websocket_fixture.hpp"

namespace joust::hostile {
namespace {

namespace words = websocket::test;
using websocket::Opcode;

class WebSocketMessages : public Messages {
 public:
  explicit WebSocketMessages(Chance& chance) : chance_(chance) {}
  std::string opening() override { return words::request(); }
  std::string valid() override {
    const std::string payload = chance_.bytes(chance_.size(100'000));
    if (chance_.one_in(2)) return words::masked(Opcode::binary, payload);
    const std::size_t at = chance_.below(payload.size());
    return words::masked(Opcode::binary, payload.substr(0, at), false) +
           words::masked(Opcode::ping, "between") + words::masked(Opcode::continuation, payload.substr(at));
  }
  std::string small() override {
    return words::masked(chance_.pick({Opcode::text, Opcode::binary, Opcode::ping, Opcode::pong}), "small");
  }
  std::string invalid() override {
    const std::string some = chance_.bytes(chance_.size(300));
    switch (chance_.below(8)) {
      case 0:
        return words::bare(Opcode::binary, some);
      case 1:
        return words::masked(Opcode::continuation, some);
      case 2:
        return words::masked(Opcode::text, some + "\xff");
      case 3:
        return words::masked(Opcode::text, some, false) + words::masked(Opcode::text, some);
      case 4:  // 2^56 bytes are announced
        return std::string("\x82\xff\x01\0\0\0\0\0\0\0\1\2\3\4", 14) + some;
      case 5:
        return words::masked(Opcode::close,
                             words::code(static_cast<unsigned>(chance_.below(1 << 16)), some.substr(0, 100)));
      case 6:
        return words::request("Upgrade: " + std::string(chance_.size(20'000), 'x') + "\r\n");
      default:
        return some;
    }
  }

 private:
  Chance& chance_;
};

}  // namespace

std::unique_ptr<Messages> websocket_messages(Chance& chance) {
  return std::make_unique<WebSocketMessages>(chance);
}

}  // namespace joust::hostile
