// SPDX-License-Identifier: MIT
//
// websocket: a handshake, messages of all sizes, each reply compared, and a close that is answered by the
// same.
#include "hostile/honest.hpp"
#include "protocols/websocket_fixture.hpp"

namespace joust::hostile {

Conversation websocket_conversation(const Circumstances& circumstances) {
  namespace words = websocket::test;
  using websocket::Opcode;
  const std::string goodbye = words::bare(Opcode::close, words::code(1001, "the server stops"));
  return [&circumstances, goodbye](std::uint64_t number, Chance& chance) {
    constexpr std::size_t kMostPayload = 60'000;
    conformance::Peer peer(circumstances.server);
    const auto ask = [&](const std::string& request, const std::string& right) {
      peer.send(request);
      const std::string came = peer.receive(right.size());
      if (came == right) return;
      if (circumstances.stopping && goodbye.starts_with(came))
        throw std::runtime_error("the server takes its leave");
      throw WrongReply("a reply has other bytes than it should");
    };
    ask(words::request(), words::answer());
    for (std::uint64_t requests = chance.size(8); requests > 0; --requests) {
      const std::string payload =
          conformance::pattern(chance.size(kMostPayload), static_cast<unsigned>(number + requests));
      ask(words::masked(Opcode::binary, payload), words::bare(Opcode::binary, payload));
    }
    ask(words::masked(Opcode::close, words::code(1000)), words::bare(Opcode::close, words::code(1000)));
    peer.finish();
    if (!peer.receive_to_end().empty()) throw WrongReply("bytes behind the close");
  };
}

}  // namespace joust::hostile
