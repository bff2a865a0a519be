// SPDX-License-Identifier: MIT
//
// resp: values of all sizes, written and read back under keys of their own, and nothing behind the last
// reply.
#include <fmt/format.h>

#include "hostile/honest.hpp"

namespace joust::hostile {

Conversation resp_conversation(const Circumstances& circumstances) {
  return [&circumstances](std::uint64_t number, Chance& chance) {
    constexpr std::size_t kMostBytes = 60'000;
    conformance::Peer peer(circumstances.server);
    const std::string key = fmt::format("honest:{:012}", number);
    const auto bulk = [](std::string_view text) { return fmt::format("${}\r\n{}\r\n", text.size(), text); };
    const auto ask = [&](const std::string& request, const std::string& right) {
      peer.send(request);
      if (peer.receive(right.size()) != right) throw WrongReply("a reply has other bytes than it should");
    };
    for (std::uint64_t requests = chance.size(8); requests > 0; --requests) {
      const std::string value =
          conformance::pattern(chance.size(kMostBytes), static_cast<unsigned>(number + requests));
      ask("*3\r\n$3\r\nSET\r\n" + bulk(key) + bulk(value), "+OK\r\n");
      ask("*2\r\n$3\r\nGET\r\n" + bulk(key), bulk(value));
    }
    peer.send("*2\r\n$3\r\nDEL\r\n" + bulk(key) + "PING\r\n");
    const std::string last = peer.receive(std::string_view(":1\r\n+PONG\r\n").size());
    if (last != ":1\r\n+PONG\r\n" && last != ":0\r\n+PONG\r\n")
      throw WrongReply("the last replies have other bytes than they should");
    peer.finish();
    if (!peer.receive_to_end().empty()) throw WrongReply("bytes behind the last reply");
  };
}

}  // namespace joust::hostile
