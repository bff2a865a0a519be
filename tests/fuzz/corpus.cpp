// SPDX-License-Identifier: MIT
#include "fuzz/corpus.hpp"

#include "base/bytes.hpp"
#include "files/protocol/messages.hpp"
#include "protocols/broadcast/protocol.hpp"
#include "protocols/websocket_fixture.hpp"
#include "protocols/work/messages.hpp"

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

template <typename Message>
std::string work_frame(const Message& message) {
  work::Room room;
  const std::string body(as_text(work::serialize(message, room)));
  std::string head(4, '\0');
  write_big_endian(static_cast<std::uint32_t>(body.size()), reinterpret_cast<std::byte*>(head.data()));
  return head + body;
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
      wire({3, Whole{4, std::nullopt, {.mode = 0644}, "w"}}) + data(3, "abcd") + wire({3, End{4, {}}}) +
          wire({4, Offered{.there = 3}}),
      wire({3, Offer{8, 5, {.makes_parents = true}, "a/b"}}) +
          wire({4, UploadRange{8, {0, 8}, 5, std::nullopt, false, "a/b", true}}) + data(4, "abcdefgh") +
          wire({4, End{8, {}}}) + wire({5, Seal{8, 5, Digest{}, "a/b"}}),
      wire({1, Folder{0755, true, true, "d/e"}}) + wire({2, Folder{0, false, false, "../d"}}) +
          wire({3, Stored{.complete = true, .was_there = true}}),
      wire({1, List{"a"}}) + wire({2, List{"../a"}}) + wire({3, List{}}) +
          wire({4, Entries{{{"f", false, 5, 6, 0640}, {"d", true, 0, 6, 0755}}}}) + wire({4, Listed{2, 1}}),
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

// What servers hear and what clients hear: each is a violation for the other side.
std::vector<std::string> work_corpus() {
  using work::JobRequest, work::JobResponse;
  const std::string job = work_frame(JobRequest{7, 1}), done = work_frame(JobResponse{0, true});
  return {
      "a" + job + work_frame(JobRequest{0xffffffff, 0}) + job,
      "b" + done + work_frame(JobResponse{1, true}) + work_frame(JobResponse{2, true}),
      "c" + done + work_frame(JobResponse{1, false}),
      "d" + job + std::string("\0\0\0\0", 4) + work_frame(JobRequest{1, -1}),
      "e" + done + "\xff\xff\xff\xff",
      std::string("f\0\0\0\x06\x0a\x02\x08\x01\x78\x01", 11) + job,  // with an unknown field
  };
}

// Requests, and replies for the client. Here a file has 100 bytes for each of its name, but says 101.
std::vector<std::string> http_corpus() {
  const std::string host = " HTTP/1.1\r\nHost: a\r\n", end = "\r\n";
  const std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!";
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string long_name(200, 'n');
  return {
      "a\r\nGET /name?x" + host + end + "HEAD /a%20b" + host + "If-None-Match: \"x\", W/\"y\"\r\n" + end,
      "bGET /n" + host + "Range: bytes=3-40\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n" + end + "GET /n" +
          host + "Range: bytes=-5\r\n" + end,
      "cGET /" + long_name + host + end + "GET /n" + host + end,  // larger than one write, and too short
      "dPOST /n" + host + "Content-Length: 3\r\n" + end + "abc",
      "eGET /n" + host + "Transfer-Encoding: chunked\r\n" + end + "0\r\n\r\n",
      "fGET http://b/n HTTP/1.0\r\nConnection: keep-alive\r\n" + end + "OPTIONS *" + host + end,
      "g" + reply + reply + "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 13\r\n\r\nHello, World!",
      "h" + reply + "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
      "iHTTP/1.1 103 Early Hints\r\n\r\n" + chunked + "5;x=y\r\nHello\r\n8\r\n, World!\r\n0\r\nT: x\r\n\r\n" +
          reply,
      "j" + reply + "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 13\r\n\r\nHello, World!" + reply,
      "kHTTP/1.0 200 OK\r\n\r\nHello, World!",
  };
}

// Commands, as arrays and in words, and replies for the client.
std::vector<std::string> resp_corpus() {
  const std::string set = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\n",
                    get = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
  const std::string value = "$32\r\n" + std::string(32, 'v') + "\r\n";
  return {
      "a" + set + get + "get k\r\nDEL k k\r\n\r\nPING\r\nQUIT\r\n",
      "b" + get + "*0\r\n*-1\r\n*1\r\n$6\r\nDBSIZE\r\n" + set + "FLUSHALL\r\nCONFIG GET save\r\n",
      "c*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4000\r\n" + std::string(4000, 'v') + "\r\n" + get,
      "d*2\r\n*1\r\n$3\r\nGET\r\n$1\r\nk\r\n",
      "e*1000000\r\n$-1\r\n",
      "f$-1\r\n" + value + "+OK\r\n_\r\n" + value,
      "g+OK\r\n+OK\r\n-ERR no\r\n",
      "h%1\r\n+a\r\n|1\r\n+b\r\n:1\r\n#t\r\n" + value,
  };
}

// What servers hear and what clients hear: each is a violation for the other side.
std::vector<std::string> websocket_corpus() {
  using namespace websocket::test;
  using websocket::Opcode;
  const std::string large(3000, 'x');
  return {
      "a" + masked(Opcode::text, "gr\xc3", false) + masked(Opcode::ping, "p") +
          masked(Opcode::continuation, "\xbc") + masked(Opcode::binary, large),
      "b" + masked(Opcode::text, "\xff") + masked(Opcode::binary, ""),
      "c" + masked(Opcode::binary, "") + masked(Opcode::pong, "") + masked(Opcode::close, code(1000, "end")),
      "d" + request() + masked(Opcode::binary, "x"),
      "e" + request("Upgrade: h2c\r\nConnection: Upgrade\r\n"),
      "f" + bare(Opcode::binary, large) + bare(Opcode::ping, "p") + bare(Opcode::close, code(1009)),
      "g" + bare(Opcode::text, "gr\xc3", false) + bare(Opcode::ping, "p") +
          bare(Opcode::continuation, "\xbc"),
      "h" + answer() + bare(Opcode::binary, "x"),
      std::string("i\x82\xff\0\0\0\0\0\x10\0\0\1\2\3\4x", 16),
  };
}

std::vector<std::string> websocket_room_corpus() {
  using namespace websocket::test;
  using broadcast::Kind;
  using websocket::Opcode;
  const auto content = [](Kind kind, std::uint64_t number, const std::string& payload) {
    return frame(kind, 1, number, payload).substr(broadcast::kLengthBytes);
  };
  const std::string join = masked(Opcode::binary, content(Kind::join, 0, ""));
  const auto message = [&](std::uint64_t number) {
    return masked(Opcode::binary, content(Kind::message, number, std::string(number * 100, 'x')));
  };
  const std::string ping = masked(Opcode::ping, "p");
  return {
      "a" + join + message(0) + ping + message(1) + ping + ping + message(2),
      "b" + join + ping + message(0) + masked(Opcode::close, code(1000)),
      "c" + join + message(0) + join,
      "d" + request() + ping + join + masked(Opcode::text, "x"),
      "e" + message(0),
      "f" + join + masked(Opcode::binary, std::string(70'000, 'x')),
  };
}

}  // namespace joust::fuzz
