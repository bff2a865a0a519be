// SPDX-License-Identifier: MIT
#include "fuzz/corpus.hpp"

#include "base/endian.hpp"
#include "protocols/broadcast/wire.hpp"
#include "protocols/file_messages.hpp"

namespace joust::fuzz {
namespace {

using namespace file;
using file::test::wire;

std::string data(std::uint32_t request, const std::string& text) {
  return wire({request, Data{static_cast<std::uint32_t>(text.size())}}) + text;
}

std::string frame(broadcast::Kind kind, std::uint32_t member, std::uint64_t number,
                  const std::string& payload) {
  std::string text(broadcast::kLengthBytes + broadcast::kHeadBytes, '\0');
  auto* const bytes = reinterpret_cast<std::byte*>(text.data());
  write_big_endian(static_cast<std::uint32_t>(broadcast::kHeadBytes + payload.size()), bytes);
  bytes[4] = static_cast<std::byte>(kind);
  write_big_endian(member, bytes + 5);
  write_big_endian(number, bytes + 9);
  return text + payload;
}

}  // namespace

std::vector<std::string> file_corpus() {
  const std::string upload = wire({3, UploadRange{8, {0, 8}, 1, Digest{}, false, "a/b"}});
  const std::string part = wire({4, UploadRange{8, {4, 4}, 2, std::nullopt, true, "c"}});
  std::vector<std::string> corpus{
      wire({1, Query{"name", true}}) + wire({2, Query{"../x", false}}),
      wire({1, Fragment{{0, 400}, "name"}}) + wire({2, Fragment{{3, 401}, "name"}}),
      wire({1, Fragment{{0, 404}, "name"}}) + wire({2, Query{"name", true}}),  // it is shorter than it says
      upload + data(3, "abcd") + data(3, "efgh") + wire({3, End{8, std::nullopt}}),
      upload + data(3, "abcd") + wire({3, Error{{FileError::shrunk, "x"}}}) + part + data(4, "efgh") +
          wire({4, End{4, std::nullopt}}),
      wire({1, Facts{5, 6, Digest{}}}) + wire({1, Stored{{1, 2}, true, Digest{}}}) + wire({1, Working{7}}),
  };
  for (std::size_t i = 0; i < corpus.size(); ++i) corpus[i].insert(corpus[i].begin(), static_cast<char>(i));
  return corpus;
}

std::vector<std::string> broadcast_corpus() {
  using broadcast::Kind;
  const std::string join = frame(Kind::join, 1, 0, "");
  return {
      "a" + join + frame(Kind::message, 1, 0, "hello") + frame(Kind::message, 1, 1, std::string(500, 'x')),
      "b" + join + join,
      std::string("c") + frame(Kind::message, 1, 0, "not joined"),
      "d" + join + std::string("\0\0\0\0", 4),
      "e" + join + "\xff\xff\xff\xff",
  };
}

}  // namespace joust::fuzz
