// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "joust/framing.hpp"
#include "session/allocations.hpp"

namespace joust {
namespace {

using Status = Deframer::Status;
using Messages = std::vector<std::string>;

std::string bytes_of(const Outbox& outbox) {
  std::array<Segment, 64> segments;
  std::string all;
  for (std::size_t i = 0; i < outbox.segments(segments); ++i) all += as_text(segments[i].bytes);
  return all;
}

std::string framed(const Framing& framing, const Messages& messages) {
  std::string all;
  for (const std::string& message : messages) {
    Outbox one;
    write_frame(framing, as_bytes(message), one);
    all += bytes_of(one);
  }
  return all;
}

// Feeds `chunk` to its end; the messages it completes are added.
Status feed(Deframer& deframer, std::string_view chunk, Messages& messages) {
  Bytes rest = as_bytes(chunk);
  Status status = Status::need_more;
  while (!rest.empty()) {
    const Deframer::Step step = deframer.next(rest);
    status = step.status;
    if (status == Status::malformed) return status;
    if (status == Status::message) messages.emplace_back(as_text(step.message));
    rest = rest.subspan(step.taken);
  }
  return status;
}

// Whatever the messages and wherever the stream is cut, the same messages come out.
void same_however_cut(const Framing& framing, const Messages& messages) {
  const std::string stream = framed(framing, messages);
  const auto cuts = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 40));
  Deframer deframer(framing);
  Messages received;
  std::size_t at = 0;
  for (std::size_t i = 0; at < stream.size(); ++i) {
    const std::size_t size = i < cuts.size() ? cuts[i] : 7;
    RC_ASSERT(feed(deframer, std::string_view(stream).substr(at, size), received) != Status::malformed);
    at += size;
  }
  RC_ASSERT(received == messages);
  RC_ASSERT(!deframer.in_message());
}

RC_GTEST_PROP(Deframer, LengthMessagesAreTheSameHoweverCut, (const Messages& messages)) {
  same_however_cut(Length4{}, messages);
}

RC_GTEST_PROP(Deframer, LinesAreTheSameHoweverCut, ()) {
  const auto letters = rc::gen::container<std::string>(rc::gen::inRange(' ', '~'));
  same_however_cut(Line{}, *rc::gen::container<Messages>(letters));
}

RC_GTEST_PROP(Deframer, ExactSizesAreTheSameHoweverCut, ()) {
  const auto sizes = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 50));
  const auto cut = *rc::gen::inRange<std::size_t>(1, 60);
  Deframer deframer{Raw{}};
  std::string stream;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    stream += std::string(sizes[i], static_cast<char>('a' + i % 26));
  std::size_t done = 0;
  for (std::size_t at = 0; at < stream.size(); at += cut) {
    const std::string piece = stream.substr(at, cut);
    for (Bytes rest = as_bytes(piece); !rest.empty();) {
      deframer.expect(sizes[done]);
      const Deframer::Step step = deframer.next(rest);
      rest = rest.subspan(step.taken);
      if (step.status != Status::message) continue;
      RC_ASSERT(step.message.size() == sizes[done]);
      RC_ASSERT(as_text(step.message).front() == static_cast<char>('a' + done % 26));
      ++done;
    }
  }
  RC_ASSERT(done == sizes.size());
}

// Messages of two bytes, by a cutter that says so. The last one may have one byte.
class PairCutter : public Cutter {
 public:
  CutStep next(Bytes chunk) override {
    if (chunk[0] == std::byte{'!'}) return {Status::malformed, 0, {}, {}};
    if (held_.size() == 2) held_.clear();
    held_ += as_text(chunk.first(1));
    return {in_message() ? Status::need_more : Status::message, 1, as_bytes(held_), {}};
  }
  CutStep end() override {
    return {in_message() ? Status::message : Status::need_more, 0, as_bytes(held_), {}};
  }
  bool in_message() const override { return held_.size() == 1; }
  std::string_view complaint() const override { return "an exclamation mark"; }

 private:
  std::string held_;
};
const Own kPairs{[]() -> std::unique_ptr<Cutter> { return std::make_unique<PairCutter>(); }};

TEST(DeframerTest, AProtocolMayCutItsStreamItself) {
  Deframer deframer(kPairs);
  Messages received;
  EXPECT_EQ(feed(deframer, framed(kPairs, {"ab", "c"}) + "d" + "e", received), Status::need_more);
  EXPECT_EQ(received, (Messages{"ab", "cd"}));
  EXPECT_TRUE(deframer.in_message());
  EXPECT_EQ(as_text(deframer.end().message), "e") << "it ends with the stream";
  EXPECT_EQ(deframer.next(as_bytes("!")).status, Status::malformed);
  EXPECT_EQ(deframer.complaint(), "an exclamation mark");
}

TEST(DeframerTest, OtherMessagesDoNotEndWithTheStream) {
  Deframer deframer{Line{}};
  Messages received;
  feed(deframer, "half a line", received);
  EXPECT_EQ(deframer.end().status, Status::need_more);
}

// Nothing a peer sends may do worse than be refused.
RC_GTEST_PROP(Deframer, SurvivesAnyBytes, (const std::vector<std::string>& chunks)) {
  for (const Framing& framing : {Framing{Length4{.largest = 100}}, Framing{Line{.largest = 100}}}) {
    Deframer deframer(framing);
    Messages received;
    for (const std::string& chunk : chunks)
      if (feed(deframer, chunk, received) == Status::malformed) break;
    for (const std::string& message : received) RC_ASSERT(message.size() <= 100U);
  }
}

TEST(DeframerTest, LengthIsFourBytesBigEndian) {
  EXPECT_EQ(framed(Length4{}, {"abc"}), std::string("\0\0\0\3abc", 7));
  EXPECT_EQ(framed(Length4{}, {std::string(0x102, 'x')}).substr(0, 5), std::string("\0\0\1\2x", 5));
}

TEST(DeframerTest, MessageWholeInOneChunkIsNotCopied) {
  const std::string stream = framed(Length4{}, {"first", "second"});
  Deframer deframer{Length4{}};
  const Deframer::Step step = deframer.next(as_bytes(stream));
  EXPECT_EQ(as_text(step.message).data(), stream.data() + 4);
}

TEST(DeframerTest, RawHandsOnWhatArrivesTogether) {
  Deframer deframer{Raw{}};
  Messages received;
  feed(deframer, "one", received);
  feed(deframer, "two", received);
  EXPECT_EQ(received, (Messages{"one", "two"}));
}

TEST(DeframerTest, EmptyMessagesAreMessages) {
  for (const Framing& framing : {Framing{Length4{}}, Framing{Line{}}}) {
    Deframer deframer(framing);
    Messages received;
    feed(deframer, framed(framing, {"", "x", ""}), received);
    EXPECT_EQ(received, (Messages{"", "x", ""}));
  }
}

TEST(DeframerTest, LinesMayEndWithCarriageReturn) {
  Deframer deframer{Line{}};
  Messages received;
  feed(deframer, "a\r\nb\n\r\nc\rd\r", received);
  feed(deframer, "\n", received);
  EXPECT_EQ(received, (Messages{"a", "b", "", "c\rd"}));
}

TEST(DeframerTest, LargestIsAllowedAndOneMoreIsNot) {
  for (const Framing& framing : {Framing{Length4{.largest = 10}}, Framing{Line{.largest = 10}}}) {
    for (const std::size_t cut : {1U, 5U, 100U}) {
      Deframer deframer(framing);
      Messages received;
      const std::string good = framed(framing, {std::string(10, 'x')});
      for (std::size_t at = 0; at < good.size(); at += cut) feed(deframer, good.substr(at, cut), received);
      EXPECT_EQ(received, Messages{std::string(10, 'x')});
      const std::string bad = framed(framing, {std::string(11, 'x')});
      Status status = Status::need_more;
      for (std::size_t at = 0; at < bad.size() && status != Status::malformed; at += cut)
        status = feed(deframer, bad.substr(at, cut), received);
      EXPECT_EQ(status, Status::malformed);
      EXPECT_FALSE(deframer.complaint().empty());
    }
  }
}

TEST(DeframerTest, LongestLineMayEndWithCarriageReturn) {
  Deframer deframer{Line{.largest = 4}};
  Messages received;
  feed(deframer, "four\r", received);
  feed(deframer, "\n", received);
  EXPECT_EQ(received, Messages{"four"});
}

// A line without an end is refused as soon as it is too long, not when its end comes.
TEST(DeframerTest, EndlessLineIsRefusedEarly) {
  Deframer deframer{Line{.largest = 1000}};
  Messages received;
  std::size_t sent = 0;
  while (feed(deframer, "0123456789", received) != Status::malformed) sent += 10;
  EXPECT_LE(sent, 1010U);
}

TEST(DeframerTest, AnnouncedBytesAreNotAllocated) {
  Deframer deframer{Length4{.largest = 1 << 30}};
  Messages received;
  largest_allocation_since();
  EXPECT_EQ(feed(deframer, std::string_view("\x3f\xff\xff\xff", 4), received), Status::need_more);
  EXPECT_EQ(feed(deframer, "a few bytes of it", received), Status::need_more);
  EXPECT_LT(largest_allocation_since(), 1024U);
}

TEST(DeframerTest, RefusedLengthIsNotAllocated) {
  for (const std::string_view header :
       {std::string_view("\xff\xff\xff\xff", 4), std::string_view("\0\x10\0\1", 4)}) {
    Deframer deframer{Length4{}};
    Messages received;
    largest_allocation_since();
    EXPECT_EQ(feed(deframer, header, received), Status::malformed);
    EXPECT_LT(largest_allocation_since(), 1024U);
  }
}

TEST(DeframerTest, KnowsWhetherAMessageHasBegun) {
  Deframer deframer{Length4{}};
  Messages received;
  EXPECT_FALSE(deframer.in_message());
  feed(deframer, std::string_view("\0", 1), received);
  EXPECT_TRUE(deframer.in_message());
  feed(deframer, std::string_view("\0\0\1x", 4), received);
  EXPECT_FALSE(deframer.in_message());
}

}  // namespace
}  // namespace joust
