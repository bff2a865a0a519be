// SPDX-License-Identifier: MIT
#include "session/message_wise.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "joust/framing.hpp"
#include "joust/outbox.hpp"

namespace joust {
namespace {

// A session of a stream: shows the frames it is given, and keeps those that arrive.
class FrameSession : public Session {
 public:
  void write(std::string_view message) { write_frame(Length4{}, as_bytes(message), outbox_); }

  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    const Deframer::Step step = deframer_.next(chunk);
    EXPECT_EQ(step.taken, chunk.size());
    heard.emplace_back(as_text(step.message));
    return step.taken;
  }
  void on_drain(Time /*now*/) override {}
  void on_failure(const Failure& failure, Time /*now*/) override { failed = failure; }
  std::size_t output(std::span<Segment> into) const override { return hidden ? 0 : outbox_.segments(into); }
  bool finished() const override { return false; }
  void consumed(std::size_t n) override { outbox_.consumed(n); }
  void released(std::size_t n) override { outbox_.released(n); }
  std::size_t left() const { return outbox_.size(); }

  std::vector<std::string> heard;
  std::optional<Failure> failed;
  bool hidden = false;  // it has withdrawn its output

 private:
  Deframer deframer_{Length4{}};
  Outbox outbox_;
};

struct Wrapped {
  explicit Wrapped(std::size_t largest) {
    auto frames = std::make_unique<FrameSession>();
    inner = frames.get();
    session = message_wise(std::move(frames), largest);
  }
  std::vector<std::string> shown(std::size_t most) const {
    std::vector<Segment> room(most);
    room.resize(session->output(room));
    std::vector<std::string> messages;
    for (const Segment& message : room) messages.emplace_back(as_text(message.bytes));
    return messages;
  }

  FrameSession* inner;
  std::unique_ptr<Session> session;
};

constexpr Time kArrival(std::chrono::hours(1));

TEST(MessageWise, EachFrameIsOneMessage) {
  Wrapped wrapped(100);
  for (const char* text : {"one", "two", "three"}) wrapped.inner->write(text);
  EXPECT_EQ(wrapped.shown(8), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(wrapped.shown(2), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(wrapped.session->on_bytes(as_bytes("four"), kArrival), 4U);
  EXPECT_EQ(wrapped.session->on_bytes(as_bytes("five"), kArrival), 4U);
  EXPECT_EQ(wrapped.inner->heard, (std::vector<std::string>{"four", "five"}));
}

// Whatever is consumed at once, and however much later it is released.
RC_GTEST_PROP(MessageWise, ShowsEveryMessageOnceAndKeepsItUntilReleased, ()) {
  Wrapped wrapped(5000);
  std::deque<std::string> waiting;                 // written, and not consumed
  std::deque<std::pair<Bytes, std::string>> held;  // consumed, and not released
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4))) {
    if (step < 2) {
      const auto size = *rc::gen::inRange<std::size_t>(1, 3000);
      waiting.emplace_back(size, static_cast<char>('a' + waiting.size() % 26));
      wrapped.inner->write(waiting.back());
    } else if (step == 2) {
      std::array<Segment, 7> messages;
      const std::size_t count = wrapped.session->output(messages);
      RC_ASSERT(count > 0U || waiting.empty());
      const auto taken = *rc::gen::inRange<std::size_t>(0, count + 1);
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < taken; ++i, waiting.pop_front()) {
        RC_ASSERT(as_text(messages[i].bytes) == waiting.front());
        held.emplace_back(messages[i].bytes, waiting.front());
        bytes += messages[i].bytes.size();
      }
      if (bytes > 0) wrapped.session->consumed(bytes);
    } else {
      std::size_t bytes = 0;
      for (auto some = *rc::gen::inRange<std::size_t>(0, held.size() + 1); some > 0; --some, held.pop_front())
        bytes += held.front().second.size();
      if (bytes > 0) wrapped.session->released(bytes);
    }
    for (const auto& [where, what] : held) RC_ASSERT(as_text(where) == what);
  }
}

TEST(MessageWise, ASessionThatCannotBeCarriedFails) {
  for (const std::string& misfit : {std::string(), std::string(11, 'x')}) {
    Wrapped wrapped(10);
    wrapped.inner->write("fits");
    wrapped.inner->write(misfit);
    wrapped.session->on_published(kArrival);
    EXPECT_EQ(wrapped.shown(8), std::vector<std::string>{"fits"});
    EXPECT_FALSE(wrapped.session->gives_up());
    wrapped.session->consumed(4);
    EXPECT_TRUE(wrapped.session->gives_up());
    EXPECT_TRUE(wrapped.session->finished());
    EXPECT_NE(wrapped.session->complaint(), "");
    EXPECT_TRUE(wrapped.inner->failed.has_value());
  }
}

TEST(MessageWise, OutputMayBeWithdrawnWhileItIsSent) {
  Wrapped wrapped(100);
  wrapped.inner->write("one");
  ASSERT_EQ(wrapped.shown(1).size(), 1U);
  wrapped.inner->hidden = true;
  wrapped.session->consumed(3);
  wrapped.session->released(3);
  EXPECT_TRUE(wrapped.shown(1).empty());
}

}  // namespace
}  // namespace joust
