// SPDX-License-Identifier: MIT
//
// echo and uppercase: requests of all sizes, each reply compared byte by byte, and nothing behind the last.
#include <algorithm>

#include "hostile/honest.hpp"

namespace joust::hostile {
namespace {

constexpr std::size_t kMostPayload = 60'000;

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

}  // namespace

Conversation echo_conversation(const Circumstances& circumstances) {
  const bool uppercase = circumstances.setting.protocol == "uppercase";
  return [&circumstances, uppercase](std::uint64_t number, Chance& chance) {
    conformance::Peer peer(circumstances.server);
    for (std::uint64_t requests = chance.size(8); requests > 0; --requests) {
      const std::string request =
          conformance::pattern(chance.size(kMostPayload), static_cast<unsigned>(number + requests));
      peer.send(request);
      if (peer.receive(request.size()) != (uppercase ? upper(request) : request))
        throw WrongReply("a reply has other bytes than it should");
    }
    peer.finish();
    if (!peer.receive_to_end().empty()) throw WrongReply("bytes behind the last reply");
  };
}

}  // namespace joust::hostile
