// SPDX-License-Identifier: MIT
//
// The frames of websocket, and its server, byte by byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "protocols/websocket/message.hpp"
#include "protocols/websocket/protocol.hpp"
#include "protocols/websocket_fixture.hpp"
#include "session/pair.hpp"

namespace joust::websocket {
namespace {

using namespace test;
using namespace std::string_literals;

class WebSocketServer : public testing::Test {
 protected:
  // What a new connection answers. It takes pieces of `piece` bytes.
  std::string replies_to(std::string_view bytes, std::size_t piece) {
    session_ = service_->open({});
    std::string replies;
    while (!bytes.empty() && session_->want() == Want::bytes) {
      bytes.remove_prefix(session_->on_bytes(as_bytes(bytes.substr(0, piece)), Pair::kBegin));
      replies += take_output();
    }
    return replies;
  }

  // The same of a connection after its handshake, however the stream is cut.
  std::string after_handshake(std::string_view bytes) {
    const std::string whole = replies_to(request() + std::string(bytes), SIZE_MAX);
    const std::string complaint(session_->complaint());
    for (const std::size_t piece : {1, 2, 3, 7, 1000}) {
      EXPECT_EQ(replies_to(request() + std::string(bytes), piece), whole) << "in pieces of " << piece;
      EXPECT_EQ(session_->complaint(), complaint);
    }
    EXPECT_TRUE(whole.starts_with(answer()));
    return whole.substr(std::min(whole.size(), answer().size()));
  }

  // Expects that the server refuses frames with a close code, and reports the reason.
  void expect_close(const std::string& frames, unsigned close_code, std::string_view words) {
    EXPECT_EQ(after_handshake(frames), bare(Opcode::close, code(close_code, words)));
    EXPECT_TRUE(session_->finished());
    EXPECT_EQ(session_->complaint(), words);
  }

  std::string take_output() { return taken_from(*session_); }

  std::unique_ptr<Service> service_ = make_server({});
  std::unique_ptr<Session> session_;
};

// Section 1.3.
TEST_F(WebSocketServer, AcceptsTheHandshakeOfTheSpecification) {
  EXPECT_EQ(accept_of(kKey), kAccept);
  EXPECT_EQ(key_of(0x7468652073616d70, 0x6c65206e6f6e6365), kKey) << "\"the sample nonce\"";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{10}, SIZE_MAX})
    EXPECT_EQ(replies_to(request(), piece), answer());
  EXPECT_EQ(replies_to(request("upgrade: h2c, WebSocket\r\nconnection: keep-alive, upgrade\r\n"
                               "Sec-WebSocket-Extensions: permessage-deflate\r\nOrigin: http://x\r\n"),
                       SIZE_MAX),
            answer())
      << "no extension is agreed on";
}

TEST_F(WebSocketServer, RefusesOtherHandshakesWithAStatus) {
  const auto status = [&](const std::string& head) {
    const std::string reply = replies_to(head, SIZE_MAX);
    EXPECT_EQ(replies_to(head, 1), reply);
    EXPECT_TRUE(session_->finished());
    EXPECT_NE(session_->complaint(), "");
    return reply.substr(0, 12);
  };
  const auto with = [](std::string_view from, std::string_view to) {
    std::string head = request();
    return head.replace(head.find(from), from.size(), to);
  };
  EXPECT_EQ(status(request("")), "HTTP/1.1 426");
  EXPECT_EQ(status(request("Upgrade: websocket\r\n")), "HTTP/1.1 426");
  EXPECT_EQ(status(request("Upgrade: h2c\r\nConnection: Upgrade\r\n")), "HTTP/1.1 426");
  EXPECT_EQ(status(with("HTTP/1.1", "HTTP/1.0")), "HTTP/1.1 426");
  EXPECT_EQ(status(with("Version: 13", "Version: 8")), "HTTP/1.1 426");
  EXPECT_TRUE(replies_to(request(""), SIZE_MAX).contains("\r\nSec-WebSocket-Version: 13\r\n"));
  EXPECT_EQ(status(with("Host: server.example.com\r\n", "")), "HTTP/1.1 400");
  EXPECT_EQ(status(with(kKey, "dGhlIHNhbXBsZSBub25j")), "HTTP/1.1 400") << "15 bytes";
  EXPECT_EQ(status(with(kKey, "dGhlIHNhbXBsZSBub25jZQ!=")), "HTTP/1.1 400");
  EXPECT_EQ(status(with("Sec-WebSocket-Key", "Sec-WebSocket-Clef")), "HTTP/1.1 400");
  EXPECT_EQ(status(with("\r\n\r\n", "\r\nContent-Length: 3\r\n\r\nabc")), "HTTP/1.1 400");
  EXPECT_EQ(status("GET / \x01\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("\x16\x03\x01"), "HTTP/1.1 400") << "TLS, refused at the first byte";
  EXPECT_EQ(status("GET /" + std::string(20'000, 'x')), "HTTP/1.1 431");
}

// Section 5.7.
TEST_F(WebSocketServer, ReadsAndWritesTheExamplesOfTheSpecification) {
  EXPECT_EQ(bare(Opcode::text, "Hello"), "\x81\x05Hello");
  EXPECT_EQ(masked(Opcode::text, "Hello"), "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
  EXPECT_EQ(bare(Opcode::text, "Hel", false) + bare(Opcode::continuation, "lo"), "\x01\x03Hel\x80\x02lo"s);
  EXPECT_EQ(bare(Opcode::ping, "Hello"), "\x89\x05Hello");
  EXPECT_EQ(masked(Opcode::pong, "Hello"), "\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
  EXPECT_EQ(bare(Opcode::binary, std::string(256, 'x')), "\x82\x7e\x01\x00"s + std::string(256, 'x'));
  EXPECT_EQ(bare(Opcode::binary, std::string(65536, 'x')),
            "\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00"s + std::string(65536, 'x'));

  EXPECT_EQ(after_handshake("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "\x81\x05Hello");
  EXPECT_EQ(after_handshake("\x89\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "\x8a\x05Hello");
  EXPECT_EQ(after_handshake("\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "") << "a pong has no answer";
}

TEST_F(WebSocketServer, SendsBackEveryMessageInOneFrame) {
  std::string sent, right;
  for (const std::size_t size : {0, 1, 3, 125, 126, 127, 65535, 65536, 70000}) {
    const std::string payload(size, 'a' + static_cast<char>(size % 26));
    for (const Opcode opcode : {Opcode::text, Opcode::binary}) {
      sent += masked(opcode, payload);
      right += bare(opcode, payload);
    }
  }
  EXPECT_TRUE(after_handshake(sent) == right);
  EXPECT_FALSE(session_->finished());

  const std::string largest(kLargestMessage, 'x');
  EXPECT_TRUE(replies_to(request() + masked(Opcode::binary, largest), 5000) ==
              answer() + bare(Opcode::binary, largest));
}

TEST_F(WebSocketServer, JoinsFragmentsAndAnswersPingsBetweenThem) {
  const std::string fragments = masked(Opcode::text, "gr\xc3", false) + masked(Opcode::ping, "1") +
                                masked(Opcode::continuation, "", false) +
                                masked(Opcode::continuation, "\xbc\xc3", false) + masked(Opcode::ping, "22") +
                                masked(Opcode::continuation,
                                       "\x9f"
                                       "e");
  EXPECT_EQ(after_handshake(fragments + masked(Opcode::binary, "next")), bare(Opcode::pong, "1") +
                                                                             bare(Opcode::pong, "22") +
                                                                             bare(Opcode::text,
                                                                                  "gr\xc3\xbc\xc3\x9f"
                                                                                  "e") +
                                                                             bare(Opcode::binary, "next"))
      << "a character may be cut by fragments";
}

TEST_F(WebSocketServer, AnswersACloseByTheSameAndEnds) {
  for (const std::string& payload :
       {""s, code(1000), code(1001, "going"), code(3000), code(4999, "\xe2\x82\xac")}) {
    EXPECT_EQ(after_handshake(masked(Opcode::close, payload) + masked(Opcode::text, "unheard")),
              bare(Opcode::close, payload));
    EXPECT_TRUE(session_->finished());
    EXPECT_EQ(session_->complaint(), "") << "the client's wish is no failure";
  }
  EXPECT_EQ(after_handshake(masked(Opcode::close, code(1007))), bare(Opcode::close, code(1007)));
  EXPECT_EQ(session_->complaint(), "the client refuses what it has received: close code 1007");
}

TEST_F(WebSocketServer, ClosesWithTheCodeOfEachViolation) {
  const std::string text = masked(Opcode::text, "x");
  const auto changed = [&](std::size_t at, unsigned to) {
    std::string frame = text;
    frame[at] = static_cast<char>(to);
    return frame;
  };
  for (const unsigned bit : {0x40, 0x20, 0x10})
    expect_close(changed(0, 0x81 | bit), 1002, "a frame has a reserved bit, and no extension was agreed on");
  for (const unsigned opcode : {3, 7, 11, 15})
    expect_close(changed(0, 0x80 | opcode), 1002, "a frame has an unknown opcode");
  expect_close(bare(Opcode::text, "x"), 1002, "a frame of the client is not masked");
  expect_close(masked(Opcode::ping, "x", false), 1002, "a control frame is a fragment");
  expect_close(masked(Opcode::ping, std::string(126, 'x')), 1002, "a control frame has more than 125 bytes");
  expect_close("\x82\xfe\x00\x7d\1\2\3\4"s, 1002, "the size of a frame takes more bytes than it needs");
  expect_close("\x82\xff\0\0\0\0\0\0\xff\xff\1\2\3\4"s, 1002,
               "the size of a frame takes more bytes than it needs");
  expect_close(masked(Opcode::continuation, "x"), 1002, "a fragment continues a message that was not begun");
  expect_close(masked(Opcode::text, "x", false) + masked(Opcode::text, "y"), 1002,
               "a message begins within the fragments of another one");
  expect_close("\x82\xff\x80\0\0\0\0\0\0\0\1\2\3\4"s, 1009, "a message has more than 1 MiB");
  expect_close("\x82\xff\0\0\0\0\0\x10\0\1\1\2\3\4"s, 1009, "a message has more than 1 MiB");
  expect_close(masked(Opcode::binary, "x", false) + "\x80\xff\0\0\0\0\0\x10\0\0\1\2\3\4"s, 1009,
               "a message has more than 1 MiB");
  for (const std::string_view wrong :
       {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "12345678\x80"})
    expect_close(masked(Opcode::text, wrong), 1007, "a message of text is not UTF-8");
  expect_close(masked(Opcode::text, "\xc3", false) + masked(Opcode::continuation, "x"), 1007,
               "a message of text is not UTF-8");
  expect_close(masked(Opcode::close, "\3"), 1002, "a close frame has half a code");
  for (const unsigned close_code : {0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535})
    expect_close(masked(Opcode::close, code(close_code)), 1002,
                 "a close frame has a code that is not to be sent");
  expect_close(masked(Opcode::close, code(1000, "\xff")), 1007, "the reason of a close frame is not UTF-8");
}

TEST_F(WebSocketServer, AnswersWhatCameBeforeAViolation) {
  EXPECT_TRUE(after_handshake(masked(Opcode::text, "x") + "\xff\xff").starts_with(bare(Opcode::text, "x")));
}

TEST_F(WebSocketServer, IsAskedToEndBetweenMessagesOnly) {
  replies_to(request() + masked(Opcode::text, "x", false), SIZE_MAX);
  session_->on_drain(Pair::kBegin);
  EXPECT_FALSE(session_->finished()) << "the rest of a message is on its way";
  const std::string rest = masked(Opcode::continuation, "y");
  session_->on_bytes(as_bytes(rest), Pair::kBegin);
  EXPECT_EQ(take_output(), bare(Opcode::text, "xy") + bare(Opcode::close, code(1001, "the server stops")));
  EXPECT_TRUE(session_->finished());
}

TEST_F(WebSocketServer, GoesAwayWhenItStops) {
  const auto last_words = [&](const std::string& bytes) {
    replies_to(bytes, SIZE_MAX);
    session_->on_drain(Pair::kBegin);
    EXPECT_TRUE(session_->finished());
    EXPECT_EQ(session_->complaint(), "");
    return take_output();
  };
  EXPECT_EQ(last_words(request()), bare(Opcode::close, code(1001, "the server stops")));
  EXPECT_EQ(last_words(""), "") << "there was no handshake";
  EXPECT_EQ(last_words(request() + masked(Opcode::close, code(1000))), "") << "the answer was the last word";
}

TEST(WebSocketFrames, AreMaskedAtAnyPlace) {
  std::minstd_rand random(1);
  std::string text(100, '\0');
  for (char& c : text) c = static_cast<char>(random());
  constexpr MaskKey kMask{std::byte{1}, std::byte{20}, std::byte{77}, std::byte{200}};
  for (std::size_t at = 0; at < 9; ++at)
    for (std::size_t size = 0; size < 60; ++size) {
      std::array<std::byte, 64> bytes{};
      const Bytes part = as_bytes(text).subspan(at, size);
      EXPECT_EQ(copy_masked(part, kMask, at, bytes.data()), bytes.data() + size);
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(bytes[i], part[i] ^ kMask[(at + i) % 4]);
      EXPECT_EQ(bytes[size], std::byte{}) << "nothing is written beyond it";
    }
}

TEST(WebSocketCutter, TakesNoMemoryForWhatIsOnlyAnnounced) {
  MessageCutter cutter(Role::dial);
  cutter.next(as_bytes(request()));
  const std::string begin = "\x82\xff\0\0\0\0\0\x10\0\0\1\2\3\4x"s;
  EXPECT_EQ(cutter.next(as_bytes(begin)).status, CutStep::Status::need_more);
  EXPECT_TRUE(cutter.in_message());
  EXPECT_LT(cutter.memory(), 1000U);
}

TEST(WebSocketText, IsUtf8) {
  for (const std::string_view text : {"", "a", "12345678", "123456789\xc3\xbc",
                                      "\xf0\x9f\x8e\x89"
                                      "12345678",
                                      "\xef\xbf\xbf"})
    EXPECT_TRUE(is_utf8(text)) << text;
  EXPECT_TRUE(is_utf8("\0"s));
  for (const std::string_view text :
       {"\x80", "1234567\xc3", "12345678\xc3", "\xe0\x80\x80", "\xf5\x80\x80\x80"})
    EXPECT_FALSE(is_utf8(text));
}

}  // namespace
}  // namespace joust::websocket
