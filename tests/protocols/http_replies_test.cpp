// SPDX-License-Identifier: MIT
//
// Where a reply ends, and what is none.
#include <fmt/format.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "protocols/http/heads.hpp"
#include "protocols/http_fixture.hpp"

namespace joust::http::test {
namespace {

using Status = CutStep::Status;
using Messages = std::vector<std::string>;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\n";
constexpr std::string_view kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

Status feed(ReplyCutter& cutter, std::string_view text, Messages& messages) {
  Status status = Status::need_more;
  for (Bytes rest = as_bytes(text); !rest.empty();) {
    const CutStep step = cutter.next(rest);
    status = step.status;
    if (status == Status::malformed) return status;
    if (status == Status::message) messages.emplace_back(as_text(step.message));
    if (status == Status::need_more) {
      EXPECT_GT(step.taken, 0U) << "it would never end";
    }
    rest = rest.subspan(step.taken);
  }
  return status;
}

std::string sized(std::string_view body) {
  return fmt::format("{}Content-Length: {}\r\n\r\n{}", kOk, body.size(), body);
}

class HttpReplies : public testing::Test {
 protected:
  // The bodies of these replies, which are the same however the stream is cut.
  static Messages bodies(std::string_view stream) {
    ReplyCutter at_once, bytewise;
    Messages whole, cut;
    EXPECT_NE(feed(at_once, stream, whole), Status::malformed) << at_once.complaint();
    for (const char c : stream) feed(bytewise, {&c, 1}, cut);
    EXPECT_EQ(whole, cut);
    EXPECT_FALSE(at_once.in_message() || bytewise.in_message());
    for (std::string& message : whole) message.erase(0, message.find("\r\n\r\n") + 4);
    return whole;
  }
  static std::string complaint(std::string_view stream) {
    ReplyCutter at_once, bytewise;
    Messages messages;
    feed(at_once, stream, messages);
    for (const char c : stream)
      if (feed(bytewise, {&c, 1}, messages) == Status::malformed) break;
    EXPECT_EQ(at_once.complaint(), bytewise.complaint());
    EXPECT_TRUE(messages.empty());
    return std::string(at_once.complaint());
  }
};

TEST_F(HttpReplies, HaveALengthOrChunks) {
  EXPECT_EQ(bodies(sized("") + sized("abc") + sized("\r\n\r\n")), (Messages{"", "abc", "\r\n\r\n"}));
  EXPECT_EQ(bodies(std::string(kChunked) + "3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n" + sized("x")),
            (Messages{"abc0123456789", "x"}));
  EXPECT_EQ(bodies(std::string(kChunked) + "0\r\n\r\n" + std::string(kChunked) + "1\r\n\r\r\n0\r\n\r\n"),
            (Messages{"", "\r"}));
  EXPECT_EQ(bodies("HTTP/1.1 200 OK\r\ntransfer-encoding:  CHUNKED \r\n\r\n1\r\nx\r\n0\r\n\r\n"),
            Messages{"x"});
}

TEST_F(HttpReplies, ExtensionsAndTrailersAreLeftOut) {
  EXPECT_EQ(bodies(std::string(kChunked) +
                   "3;a=b;c=\"d;e\"\r\nabc\r\n2 ; x\r\nde\r\n0;last\r\n"
                   "Digest: x\r\nContent-Length: 7\r\n\r\n" +
                   sized("y")),
            (Messages{"abcde", "y"}));
}

TEST_F(HttpReplies, SomeHaveNoBody) {
  EXPECT_EQ(bodies("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
            (Messages{"", ""}));
}

TEST_F(HttpReplies, InterimOnesAreSkipped) {
  EXPECT_EQ(bodies("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" +
                   sized("abc") + "HTTP/1.1 199 Any\r\n\r\n" + sized("d")),
            (Messages{"abc", "d"}));
  EXPECT_EQ(complaint("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"),
            "a reply changes the protocol (101), which was not asked for");
}

TEST_F(HttpReplies, InterimOnesHaveALimit) {
  const std::string_view interim = "HTTP/1.1 100 Continue\r\n\r\n";
  std::string many;
  while (many.size() + interim.size() <= kMostInterim) many += interim;
  EXPECT_EQ(bodies(many + sized("a") + many + sized("b")), (Messages{"a", "b"})) << "for each reply";
  EXPECT_EQ(complaint(many + std::string(interim)),
            "the interim replies (1xx) before a reply are longer than 65536 bytes");
}

TEST_F(HttpReplies, EndWithTheStreamWhereNothingElseSaysIt) {
  ReplyCutter cutter;
  Messages messages;
  EXPECT_EQ(feed(cutter, "HTTP/1.0 200 OK\r\n\r\nabc", messages), Status::need_more);
  EXPECT_EQ(feed(cutter, "def", messages), Status::need_more);
  EXPECT_TRUE(cutter.in_message());
  const CutStep last = cutter.end();
  EXPECT_EQ(last.status, Status::message);
  EXPECT_EQ(as_text(last.message), "HTTP/1.0 200 OK\r\n\r\nabcdef");
}

TEST_F(HttpReplies, AreIncompleteWhereTheStreamEndsBefore) {
  for (const std::string& text :
       {std::string("HTTP/1.1 200 OK\r\n"), sized("abc").substr(0, 40),
        std::string(kChunked) + "3\r\nabc\r\n", std::string(kChunked) + "0\r\n", std::string()}) {
    ReplyCutter cutter;
    Messages messages;
    feed(cutter, text, messages);
    EXPECT_EQ(cutter.end().status, Status::need_more) << text;
  }
}

TEST_F(HttpReplies, HaveLimits) {
  const std::size_t head = sized("").size() - 1 + 7;  // "1048530" has seven digits
  EXPECT_EQ(bodies(sized(std::string(kLargestReply - head, 'x'))).size(), 1U);
  EXPECT_EQ(complaint(fmt::format("{}Content-Length: {}\r\n\r\n", kOk, kLargestReply - head + 1)),
            fmt::format("a reply has a body of {} bytes: at most 1048576 are read, with the head",
                        kLargestReply - head + 1));
  EXPECT_EQ(complaint(std::string(kOk) + "Content-Length: 18446744073709551615\r\n\r\n"),
            "a reply has a body of 18446744073709551615 bytes: at most 1048576 are read, with the head");
  EXPECT_EQ(complaint(std::string(kOk) + "X: " + std::string(9000, 'x')),
            "the head of a reply is longer than 8192 bytes");
  const std::string ended = "HTTP/1.1 200 OK\r\n\r\n";
  ReplyCutter cutter;
  Messages none;
  EXPECT_EQ(feed(cutter, ended + std::string(kLargestReply - ended.size(), 'x'), none), Status::need_more);
  EXPECT_EQ(feed(cutter, "x", none), Status::malformed);
  EXPECT_EQ(cutter.complaint(), "a reply that ends with the connection is longer than 1048576 bytes");
}

TEST_F(HttpReplies, ChunksHaveLimits) {
  const std::string begin(kChunked);
  EXPECT_EQ(complaint(begin + "ffffffffffffffff\r\n"),
            "a reply in chunks is larger than is read: it has one of 18446744073709551615 bytes");
  EXPECT_EQ(complaint(begin + "00000000000000001\r\n"),
            "the size of a chunk of a reply has more than 16 digits");
  EXPECT_EQ(complaint(begin + "1;" + std::string(17'000, 'x')),
            "the extensions of chunks and the trailers of a reply are longer than 16384 bytes");
  std::string trailers;
  for (int i = 0; i < 2'000; ++i) trailers += "T: abcde\r\n";
  EXPECT_EQ(complaint(begin + "0\r\n" + trailers),
            "the extensions of chunks and the trailers of a reply are longer than 16384 bytes");
  const std::string half =
      fmt::format("{:x}\r\n{}\r\n", kLargestReply / 2, std::string(kLargestReply / 2, 'x'));
  EXPECT_EQ(complaint(begin + half + half),
            "a reply in chunks is larger than is read: it has one of 524288 bytes");
}

// A body that is counted may have any size, and only its beginning is kept.
TEST_F(HttpReplies, AreCountedHoweverLarge) {
  constexpr std::size_t kPieces = 5;
  const std::string piece(kLargestReply, 'x');
  const std::string chunk = fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
  const std::string head = fmt::format("{}Content-Length: {}\r\n\r\n", kOk, kPieces * piece.size());
  ReplyCutter cutter(ReplyTo::others, ReplyCutter::Bodies::counted);
  Messages messages;
  feed(cutter, head, messages);
  for (std::size_t i = 0; i < kPieces; ++i) {
    EXPECT_TRUE(messages.empty()) << "the body is not complete";
    feed(cutter, piece, messages);
  }
  feed(cutter, kChunked, messages);
  for (std::size_t i = 0; i < kPieces; ++i) feed(cutter, chunk, messages);
  EXPECT_EQ(feed(cutter, "0\r\n\r\n" + sized("abc"), messages), Status::message);
  const std::string beginning(kBeginning, 'x');
  EXPECT_EQ(messages, (Messages{head + beginning, std::string(kChunked) + beginning, sized("abc")}));
  const std::string ended = "HTTP/1.1 200 OK\r\n\r\n";
  feed(cutter, ended + piece, messages);
  feed(cutter, piece, messages);
  EXPECT_EQ(as_text(cutter.end().message), ended + beginning);
}

TEST_F(HttpReplies, ThatAreCountedAreIncompleteWhereTheStreamEndsBefore) {
  for (const std::string& text :
       {std::string(kOk) + "Content-Length: 18446744073709551615\r\n\r\nabc",
        std::string(kChunked) + "ffffffffffffffff\r\nabc", sized("abc").substr(0, 40)}) {
    ReplyCutter cutter(ReplyTo::others, ReplyCutter::Bodies::counted);
    Messages messages;
    EXPECT_EQ(feed(cutter, text, messages), Status::need_more);
    EXPECT_EQ(cutter.end().status, Status::need_more) << text;
  }
}

TEST_F(HttpReplies, BadChunksAreRefusedWithTheReason) {
  const std::string begin(kChunked);
  EXPECT_EQ(complaint(begin + "x\r\n"), "the size of a chunk of a reply has 'x' in it");
  EXPECT_EQ(complaint(begin + "\r\n"), "the size of a chunk of a reply has '\\x0d' in it");
  EXPECT_EQ(complaint(begin + "-1\r\n"), "the size of a chunk of a reply has '-' in it");
  EXPECT_EQ(complaint(begin + "1g\r\n"), "the size of a chunk of a reply has 'g' in it");
  EXPECT_EQ(complaint(begin + "3\r\nabcd\r\n"), "a chunk of a reply has more data than its size says");
  EXPECT_EQ(complaint(begin + "3\r\nabc\n"), "a chunk of a reply has more data than its size says");
  const std::string bare = "a line between the chunks of a reply does not end with CR LF";
  EXPECT_EQ(complaint(begin + "3;x\nabc"), bare);
  EXPECT_EQ(complaint(begin + "3\rx"), bare);
  EXPECT_EQ(complaint(begin + "0\r\nT: x\n"), bare);
  EXPECT_EQ(complaint(begin + "0\r\n\rx"), bare);
}

TEST_F(HttpReplies, BadHeadsAreRefusedWithTheReason) {
  EXPECT_EQ(complaint("no HTTP\r\n\r\n"),
            "the head of a reply cannot be read (bad version): it begins with 'no HTTP'");
  EXPECT_EQ(complaint("HTTP/2.0 200 OK\r\n\r\n"),
            "the head of a reply cannot be read (bad version): it begins with 'HTTP/2.0 200 OK'");
  EXPECT_EQ(complaint("HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\n"),
            "the head of a reply cannot be read (bad Content-Length): it begins with 'HTTP/1.1 200 OK'");
  EXPECT_EQ(complaint("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n"),
            "the head of a reply cannot be read (multiple Content-Length): it begins with 'HTTP/1.1 200 OK'");
  EXPECT_EQ(complaint("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "the head of a reply cannot be read (bad Transfer-Encoding): it begins with 'HTTP/1.1 200 OK'");
  EXPECT_EQ(complaint("HTTP/1.1 200 OK\nContent-Length: 3\n\nabc"),
            "a line of a reply's head does not end with CR LF");
  EXPECT_EQ(complaint("HTTP/1.1 200 OK\r\nX: y\nContent-Length: 3\r\n\r\nabc"),
            "a line of a reply's head does not end with CR LF");
  EXPECT_EQ(complaint("HTTP/1.1 099 What\r\n\r\n"), "a reply has the status 099");
  for (const char* coding : {"gzip, chunked", "gzip", "chunked, chunked", "identity"})
    EXPECT_EQ(complaint(fmt::format("HTTP/1.1 200 OK\r\nTransfer-Encoding: {}\r\n\r\n", coding)),
              fmt::format("a reply has the Transfer-Encoding '{}': only 'chunked' is read", coding));
  EXPECT_EQ(complaint("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "a reply of HTTP/1.0 has a Transfer-Encoding, which only 1.1 has");
}

TEST_F(HttpReplies, OneThatIsCompleteIsNotCopied) {
  const std::string stream = sized("abc") + sized("def");
  ReplyCutter cutter;
  EXPECT_EQ(as_text(cutter.next(as_bytes(stream)).message).data(), stream.data());
}

TEST_F(HttpReplies, SayWhichIsTheLastOfItsConnection) {
  const auto is_last = [](const std::string& head) {
    const auto parsed = parse_reply(as_bytes(head + "\r\n"));
    EXPECT_TRUE(parsed.has_value()) << head;
    return parsed && parsed->is_last;
  };
  const std::string now = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n",
                    before = "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n";
  EXPECT_FALSE(is_last(now));
  EXPECT_FALSE(is_last(now + "Connection: keep-alive\r\n"));
  EXPECT_FALSE(is_last(now + "Connection: closed, not-close\r\n"));
  EXPECT_TRUE(is_last(now + "Connection: close\r\n"));
  EXPECT_TRUE(is_last(now + "connection: Keep-Alive , CLOSE\r\n"));
  EXPECT_TRUE(is_last(now + "Connection: x\r\nConnection: close\r\n"));
  EXPECT_TRUE(is_last("HTTP/1.1 200 OK\r\n")) << "its end is that of the connection";
  EXPECT_TRUE(is_last("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n"));
  EXPECT_TRUE(is_last(before));
  EXPECT_FALSE(is_last(before + "Connection: keep-alive\r\n"));
  EXPECT_TRUE(is_last(before + "Connection: keep-alive, close\r\n"));
}

// However the body is sent and the stream is cut, the same comes out.
RC_GTEST_FIXTURE_PROP(HttpReplies, AreTheSameHoweverCut, (const std::vector<std::string>& texts)) {
  std::string stream;
  for (const std::string& text : texts) {
    if (*rc::gen::arbitrary<bool>()) stream += "HTTP/1.1 103 Early Hints\r\n\r\n";
    if (*rc::gen::arbitrary<bool>()) {
      stream += sized(text);
      continue;
    }
    stream += kChunked;
    for (std::string_view left = text; !left.empty();) {
      const std::string_view chunk = left.substr(0, *rc::gen::inRange<std::size_t>(1, 20));
      stream += fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk);
      left.remove_prefix(chunk.size());
    }
    stream += "0\r\n\r\n";
  }
  ReplyCutter cutter;
  Messages messages;
  for (std::string_view left = stream; !left.empty();) {
    const std::string_view piece = left.substr(0, *rc::gen::inRange<std::size_t>(1, 50));
    RC_ASSERT(feed(cutter, piece, messages) != Status::malformed);
    left.remove_prefix(piece.size());
  }
  for (std::string& message : messages) message.erase(0, message.find("\r\n\r\n") + 4);
  RC_ASSERT(messages == texts);
}

}  // namespace
}  // namespace joust::http::test
