// SPDX-License-Identifier: MIT
//
// http: requests in batches, each reply compared, and nothing behind the last. On disk there is a file, which
// is asked for in ranges.
#include <fmt/format.h>

#include "hostile/honest.hpp"
#include "hostile/messages.hpp"

namespace joust::hostile {
namespace {

struct Expected {
  std::string request, status, body;
};

Expected text() {
  return {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK", "Hello, World!"};
}

Expected range(Chance& chance) {
  const std::uint64_t first = chance.below(kSampleBytes), last = first + chance.below(kSampleBytes - first);
  return {fmt::format("GET /sample HTTP/1.1\r\nHost: a\r\nRange: bytes={}-{}\r\n\r\n", first, last),
          "HTTP/1.1 206 Partial Content", sample_text().substr(first, last - first + 1)};
}

// Reads a head and the body whose length it says.
void check_reply(conformance::Peer& peer, std::string& stream, const Expected& expected) {
  constexpr std::string_view kLength = "Content-Length: ";
  while (stream.find("\r\n\r\n") == stream.npos) {
    const std::string more = peer.receive_some(1000);
    if (more.empty()) throw std::runtime_error("the stream has ended before a reply");
    stream += more;
  }
  const std::size_t head = stream.find("\r\n\r\n") + 4, length = stream.find(kLength);
  if (!stream.starts_with(expected.status) || length >= head)
    throw WrongReply("a reply begins with " + stream.substr(0, 40));
  const std::size_t all = head + std::stoul(stream.substr(length + kLength.size()));
  if (stream.size() < all) stream += peer.receive(all - stream.size());
  if (stream.substr(head, all - head) != expected.body)
    throw WrongReply("a body has other bytes than it should");
  stream.erase(0, all);
}

}  // namespace

const std::string& sample_text() {
  static const std::string text = conformance::pattern(kSampleBytes);
  return text;
}

Conversation http_conversation(const Circumstances& circumstances) {
  return [&circumstances](std::uint64_t /*number*/, Chance& chance) {
    conformance::Peer peer(circumstances.server);
    std::string stream;
    for (std::uint64_t batches = chance.size(4); batches > 0; --batches) {
      std::vector<Expected> batch;
      std::string requests;
      for (std::uint64_t i = chance.size(8); i > 0; --i) {
        batch.push_back(circumstances.setting.on_disk ? range(chance) : text());
        requests += batch.back().request;
      }
      peer.send(requests);
      for (const Expected& expected : batch) check_reply(peer, stream, expected);
    }
    peer.finish();
    if (!(stream + peer.receive_to_end()).empty()) throw WrongReply("bytes behind the last reply");
  };
}

}  // namespace joust::hostile
