// SPDX-License-Identifier: MIT
//
// Frames of script: the same messages however a stream is cut, and every broken or endless message refused.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "protocols/script/frame.hpp"

namespace joust::script {
namespace {

std::unique_ptr<Cutter> cutter_of(std::string_view frame) {
  const auto parsed = parse_frame(frame);
  if (!parsed) throw std::invalid_argument(parsed.error());
  return parsed->cutter();
}

struct Cut {
  std::vector<std::string> messages{};
  std::string complaint{};
  bool in_message = false;
};

// Passes a stream in parts of so many bytes; 0: of random sizes.
Cut cut(std::string_view frame, std::string_view stream, std::size_t part, unsigned seed = 1) {
  std::mt19937 random(seed);
  Cut result;
  const auto cutter = cutter_of(frame);
  while (!stream.empty()) {
    const std::size_t size = std::min(stream.size(), part > 0 ? part : 1 + random() % 7);
    Bytes chunk = as_bytes(stream.substr(0, size));
    stream.remove_prefix(size);
    while (!chunk.empty()) {
      const CutStep step = cutter->next(chunk);
      if (step.status == CutStep::Status::malformed) {
        result.complaint = cutter->complaint();
        return result;
      }
      if (step.status == CutStep::Status::message) result.messages.emplace_back(as_text(step.message));
      EXPECT_GT(step.taken, 0U);
      chunk = chunk.subspan(step.taken);
    }
  }
  result.in_message = cutter->in_message();
  return result;
}

struct Stream {
  const char* frame;
  std::vector<std::string> messages;
};

using namespace std::string_literals;

const std::vector<Stream> kStreams{
    {"length:5", {"12345", "abcde"}},
    {"line", {"+OK\r\n", "\n", "last\n"}},
    {"until:\\r\\n\\r\\n", {"a\r\nb\r\n\r\n", "\r\n\r\n", "\r\r\n\r\n"}},
    {"u8",
     {"\x03"
      "abc",
      "\x00"s}},
    {"u16",
     {"\x00\x02"
      "ab"s,
      "\x01\x00"s + std::string(256, 'x')}},
    {"u16le",
     {"\x02\x00"
      "ab"s}},
    {"u32+self@1",
     {"R\x00\x00\x00\x08"
      "abcd"s,
      "Z\x00\x00\x00\x05I"s}},
    {"u32le@4", {"abcd\x01\x00\x00\x00z"s}},
    {"u64", {"\x00\x00\x00\x00\x00\x00\x00\x01z"s}},
    {"resp",
     {"+PONG\r\n", "$5\r\nhe\r\no\r\n", "$-1\r\n", "*-1\r\n", ":12\r\n",
      "*2\r\n$1\r\na\r\n*2\r\n:1\r\n+b\r\n", "*0\r\n", "%1\r\n+k\r\n~2\r\n:1\r\n:2\r\n",
      "|1\r\n+a\r\n+b\r\n+value\r\n", "_\r\n", ",1.5\r\n", "=7\r\ntxt:abc\r\n",
      "-ERR a long message that is no number at all and has more than thirty-two bytes\r\n"}}};

TEST(ScriptFrame, GivesTheSameMessagesHoweverTheStreamIsCut) {
  for (const Stream& stream : kStreams) {
    std::string all;
    for (int i = 0; i < 3; ++i)
      for (const std::string& message : stream.messages) all += message;
    const Cut whole = cut(stream.frame, all, all.size());
    std::vector<std::string> three;
    for (int i = 0; i < 3; ++i) three.insert(three.end(), stream.messages.begin(), stream.messages.end());
    EXPECT_EQ(whole.messages, three) << stream.frame << ": " << whole.complaint;
    EXPECT_FALSE(whole.in_message) << stream.frame;
    EXPECT_EQ(cut(stream.frame, all, 1).messages, three) << stream.frame;
    for (unsigned seed = 0; seed < 20; ++seed)
      EXPECT_EQ(cut(stream.frame, all, 0, seed).messages, three) << stream.frame;
    if (stream.messages.back().size() > 1) {
      EXPECT_TRUE(cut(stream.frame, all.substr(0, all.size() - 1), 3).in_message) << stream.frame;
    }
  }
}

TEST(ScriptFrame, RefusesAMessageThatIsTooLargeBeforeItIsThere) {
  for (const char* frame : {"u32", "u64"}) {
    const Cut large = cut(frame, std::string(frame[1] == '3' ? 4 : 8, '\xff'), 100);
    EXPECT_TRUE(large.complaint.contains("more than 1048576 bytes")) << large.complaint;
  }
  EXPECT_TRUE(cut("resp", "$999999999\r\n", 100).complaint.contains("more than 1048576 bytes"));
  const std::string endless(kLargestMessage + 1, 'x');
  for (const char* frame : {"line", "until:zz", "close"})
    EXPECT_TRUE(cut(frame, endless, 64 << 10).complaint.contains("more than 1048576 bytes")) << frame;
}

TEST(ScriptFrame, RefusesWhatIsNoMessage) {
  EXPECT_TRUE(cut("u32+self", "\x00\x00\x00\x03"s, 10).complaint.contains("smaller"));
  for (const char* broken : {"PONG\r\n", "$x\r\n", "$-2\r\n", "*9999999999999999999\r\n", "\r\n"})
    EXPECT_FALSE(cut("resp", broken, 3).complaint.empty()) << broken;
  EXPECT_TRUE(cut("resp", ":" + std::string(100, '1'), 10).complaint.empty()) << "a number may be long";
  EXPECT_TRUE(cut("resp", "$" + std::string(100, '1'), 10).complaint.contains("too long"));
  EXPECT_TRUE(cut("resp", "*1000000\r\n*1000000\r\n", 100).complaint.contains("too many elements"));
}

// A peer that sends byte by byte makes no work that grows with the square of the message.
TEST(ScriptFrame, LooksAtABytesOfATrickleOnce) {
  std::string deep;
  for (int i = 0; i < 50'000; ++i) deep += "*1\r\n";
  deep += "+\r\n";
  EXPECT_EQ(cut("resp", deep, 1).messages.size(), 1U);
  EXPECT_EQ(cut("until:\\r\\n", std::string(kLargestMessage - 2, '\r') + "\r\n", 1).messages.size(), 1U);
}

TEST(ScriptFrame, OfAnEndedStreamIsAllThatCame) {
  const auto cutter = cutter_of("close");
  EXPECT_EQ(cutter->next(as_bytes("ab")).status, CutStep::Status::need_more);
  EXPECT_EQ(cutter->next(as_bytes("c")).status, CutStep::Status::need_more);
  EXPECT_TRUE(cutter->in_message());
  EXPECT_EQ(as_text(cutter->end().message), "abc");
  EXPECT_EQ(cutter_of("close")->end().status, CutStep::Status::need_more);
}

TEST(ScriptFrame, SaysWhatIsPossible) {
  for (const char* wrong :
       {"lines", "", "length:0", "length:2MiB", "until:", "u24", "u32+", "u32@x", "u16be"}) {
    const auto parsed = parse_frame(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_FALSE(parsed.error().empty());
  }
  EXPECT_TRUE(parse_frame("lines").error().contains("allowed: length:BYTES, line,"));
}

}  // namespace
}  // namespace joust::script
