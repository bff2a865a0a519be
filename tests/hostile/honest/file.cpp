// SPDX-License-Identifier: MIT
//
// file: brings a file in ranges, then asks for its digest and reads all of it back. A server that takes no
// files is asked for its sample.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "files/protocol/wire.hpp"
#include "hostile/honest.hpp"

namespace joust::hostile {
namespace {

constexpr std::size_t kMostBytes = 200'000;

Digest digest_of(const std::string& bytes) {
  Digester digester;
  digester.add(as_bytes(bytes));
  return digester.value();
}

class FileTalk {
 public:
  explicit FileTalk(const Endpoint& server) : peer_(server) {}

  void say(const file::Body& body) { peer_.send(as_text(file::encode({1, body}))); }
  void say_data(std::string_view bytes) {
    say(file::Data{static_cast<std::uint32_t>(bytes.size())});
    peer_.send(bytes);
  }
  file::Body hear() {
    for (;;) {
      std::string frame = peer_.receive(file::kHeadBytes);
      const auto size = read_big_endian<std::uint32_t>(as_bytes(frame).data() + 8);
      if (static_cast<std::uint8_t>(frame[1]) != file::Data::kKind)
        frame += peer_.receive(size + file::kCheckBytes);
      file::Decoder decoder;
      const auto step = decoder.next(as_bytes(frame));
      if (!step || !step->message || step->message->request != 1) throw WrongReply("not the file protocol");
      if (!std::holds_alternative<file::Working>(step->message->body)) return step->message->body;
    }
  }
  template <typename Expected>
  Expected hear_a(const char* what) {
    const file::Body body = hear();
    if (const auto* expected = std::get_if<Expected>(&body)) return *expected;
    const auto* error = std::get_if<file::Error>(&body);
    if (error == nullptr) throw WrongReply(fmt::format("not the {} that was due", what));
    throw error->refusal;
  }
  std::string receive(std::size_t bytes) { return peer_.receive(bytes); }

 private:
  conformance::Peer peer_;
};

// The cuts of a file, in any order.
std::vector<ByteRange> cut(std::uint64_t size, Chance& chance) {
  std::vector<ByteRange> ranges;
  for (std::uint64_t at = 0; at < size;) {
    const std::uint64_t part = ranges.size() == 2 ? size - at : chance.size(size - at);
    ranges.push_back({at, part});
    at += part;
  }
  if (chance.one_in(2)) std::ranges::reverse(ranges);
  return ranges;
}

}  // namespace

void bring_file(const Endpoint& server, const std::string& name, const std::string& bytes, Chance& chance) {
  FileTalk talk(server);
  const std::vector<ByteRange> ranges = cut(bytes.size(), chance);
  for (const ByteRange& range : ranges) {
    talk.say(file::UploadRange{.file_size = bytes.size(),
                               .range = range,
                               .id = 77,
                               .digest = digest_of(bytes),
                               .dry_run = false,
                               .name = name});
    talk.say_data(std::string_view(bytes).substr(range.offset, range.size));
    talk.say(file::End{.size = range.size, .digest = {}});
    const auto stored = talk.hear_a<file::Stored>("'stored'");
    if (stored.complete != (&range == &ranges.back()))
      throw WrongReply("an upload is complete too early, or never");
  }
}

std::string fetch_file(const Endpoint& server, const std::string& name) {
  FileTalk talk(server);
  talk.say(file::Query{.name = name, .wants_digest = true});
  const auto facts = talk.hear_a<file::Facts>("'facts'");
  talk.say(file::Fragment{.range = {0, facts.size}, .name = name});
  talk.hear_a<file::Facts>("'facts'");
  std::string fetched;
  while (fetched.size() < facts.size) fetched += talk.receive(talk.hear_a<file::Data>("'data'").size);
  talk.hear_a<file::End>("'end'");  // after an error nothing of the answer is to be used
  if (facts.digest != digest_of(fetched)) throw WrongReply("a file has other bytes than its digest says");
  return fetched;
}

Conversation file_conversation(const Circumstances& circumstances) {
  if (circumstances.setting.parameters.option("access") == "read")
    return [&circumstances](std::uint64_t, Chance&) { fetch_file(circumstances.server, "sample"); };
  const bool may_be_busy = circumstances.setting.parameters.option("max-uploads") != "256";
  return [&circumstances, may_be_busy](std::uint64_t number, Chance& chance) {
    const std::string name = fmt::format("honest-{}", number);
    const std::string bytes = conformance::pattern(chance.size(kMostBytes), static_cast<unsigned>(number));
    try {
      bring_file(circumstances.server, name, bytes, chance);
      if (fetch_file(circumstances.server, name) != bytes)
        throw WrongReply("a file has other bytes than were brought");
    } catch (const FileRefusal& refusal) {
      const bool stopped = circumstances.stopping;
      if (refusal.error == FileError::busy && may_be_busy) return;
      if (!stopped) throw WrongReply(fmt::format("refused: {} {}", error_name(refusal.error), refusal.text));
    }
  };
}

}  // namespace joust::hostile
