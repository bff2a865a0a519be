// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <time.h>

#include <vector>

#include "protocols/work/protocol.hpp"
#include "protocols/work_fixture.hpp"
#include "session/allocations.hpp"

namespace joust::work::test {
namespace {

using std::chrono::milliseconds;
using namespace std::literals;

constexpr Time kStart = Time(std::chrono::hours(1));

// The frames of docs/work-protocol.md, byte by byte.
constexpr std::string_view kAskJob300 = "\0\0\0\7\x0a\5\x08\xac\2\x10\1"sv;
constexpr std::string_view kJob300Done = "\0\0\0\7\x12\5\x08\xac\2\x10\1"sv;

class WorkServer : public testing::Test {
 protected:
  void SetUp() override { open({}); }
  void open(const Settings& options) {
    service_ = server(options);
    session_ = service_->open({});
    session_->on_open(now_);
  }
  std::string ask(std::string_view bytes) {
    session_->on_bytes(as_bytes(bytes), now_);
    return take_output(*session_);
  }
  std::string at(milliseconds time) {
    now_ = kStart + time;
    if (const auto due = session_->deadline(); due && *due <= now_) session_->on_deadline(now_);
    return take_output(*session_);
  }

  std::unique_ptr<Service> service_;
  std::unique_ptr<Session> session_;
  Time now_ = kStart;
};

TEST_F(WorkServer, AnswersAsTheDocumentSays) {
  EXPECT_EQ(ask(kAskJob300), kJob300Done);
  EXPECT_EQ(frame(JobRequest{300, 1}), kAskJob300);
  EXPECT_EQ(ask(kAskJob300), kJob300Done) << "once more, on the same connection";
  EXPECT_FALSE(session_->finished());
}

TEST_F(WorkServer, SkipsFieldsOfLaterVersions) {
  // A text in field 9 of the request, and a number in field 15 of the message.
  EXPECT_EQ(ask("\0\0\0\x0e\x0a\x0a\x08\xac\2\x10\1\x4a\3new\x78\1"sv), kJob300Done);
}

TEST_F(WorkServer, EndsAndCountsWhatBreaksTheProtocol) {
  const auto refused = [this](std::string_view bytes, std::string_view why) {
    SCOPED_TRACE(why);
    open({});
    EXPECT_EQ(ask(std::string(kAskJob300) + std::string(bytes)), kJob300Done);
    EXPECT_TRUE(session_->finished());
    EXPECT_EQ(session_->want(), Want::nothing);
    EXPECT_EQ(session_->complaint(), why);
  };
  refused("\xff\xff\xff\xff"sv, "a frame is longer than the protocol allows");
  refused("\0\0\1\1"sv, "a frame is longer than the protocol allows");
  refused("\0\0\0\0"sv, "a WorkMessage is neither a request nor a response");
  refused("\0\0\0\2\x78\1"sv, "a WorkMessage is neither a request nor a response");  // an unknown field only
  refused("\0\0\0\4\xff\xff\xff\xff"sv, "a frame does not contain a WorkMessage");
  refused("\0\0\0\3\x0a\5\x08"sv, "a frame does not contain a WorkMessage");  // cut off by the frame's length
  refused(kJob300Done, "a WorkResponse was sent to a server");
  refused(frame(JobRequest{1, -1}), "a workload is negative");
}

// There each unit is a message: nothing has a length, and nothing is in two parts.
TEST_F(WorkServer, NeedsNoLengthsOverAMessageTransport) {
  service_ = server({{"writes", "two"}});
  session_ = service_->open({.delivery = {.kind = Delivery::Kind::message, .largest_message = 1000}});
  EXPECT_EQ(ask(kAskJob300.substr(4)), kJob300Done.substr(4));
  EXPECT_EQ(ask(std::string(257, 'x')), "");
  EXPECT_EQ(session_->complaint(), "a WorkMessage is longer than the protocol allows");
}

TEST_F(WorkServer, RefusesAWorkloadBeyondItsTime) {
  for (const Settings& options : {Settings{{"work", "1ms"}, {"work-kind", "sleep"}},
                                  Settings{{"work", "1us"}, {"most-work", "100us"}}}) {
    open(options);
    ask(frame(JobRequest{1, 100}));
    EXPECT_FALSE(session_->finished());
    ask(frame(JobRequest{2, 101}));
    const std::string most = options.contains("most-work") ? "100 us" : "100 ms";
    EXPECT_EQ(session_->complaint(), "a workload takes longer than the " + most + " that --most-work allows");
  }
}

TEST_F(WorkServer, AllocatesNothingForALengthItRefuses) {
  largest_allocation_since();
  ask("\x7f\xff\xff\xff garbage"sv);
  EXPECT_LT(largest_allocation_since(), 1024U);
}

TEST_F(WorkServer, AsleepAnswersEachRequestWhenItIsDue) {
  open({{"work", "10ms"}, {"work-kind", "sleep"}});
  EXPECT_EQ(ask(frame(JobRequest{1, 1})), "");
  at(milliseconds(4));
  EXPECT_EQ(ask(frame(JobRequest{2, 1})), "");
  EXPECT_EQ(at(milliseconds(9)), "");
  EXPECT_EQ(at(milliseconds(10)), frame(JobResponse{1, true}));
  EXPECT_EQ(at(milliseconds(13)), "");
  EXPECT_EQ(at(milliseconds(14)), frame(JobResponse{2, true}));
}

TEST_F(WorkServer, AsleepKeepsTheOrder) {
  open({{"work", "10ms"}, {"work-kind", "sleep"}});
  ask(frame(JobRequest{1, 5}) + frame(JobRequest{2, 1}) + frame(JobRequest{3, 0}));
  EXPECT_EQ(at(milliseconds(49)), "");
  EXPECT_EQ(at(milliseconds(50)),
            frame(JobResponse{1, true}) + frame(JobResponse{2, true}) + frame(JobResponse{3, true}));
}

TEST_F(WorkServer, BusyAnswersAtOnceOfTheSessionsTime) {
  open({{"work", "1ms"}});
  EXPECT_EQ(ask(kAskJob300), kJob300Done);
  EXPECT_FALSE(session_->deadline());
}

TEST_F(WorkServer, TakesNoWrongOptions) {
  EXPECT_THROW(server({{"work", "11s"}}), std::invalid_argument);
  EXPECT_THROW(server({{"work", "3"}}), std::invalid_argument);
  EXPECT_THROW(server({{"work", "101ms"}}), std::invalid_argument);
  EXPECT_THROW(server({{"most-work", "11s"}}), std::invalid_argument);
}

TEST_F(WorkServer, InTwoWritesShowsTheLengthAlone) {
  open({{"writes", "two"}});
  const std::string twice = std::string(kAskJob300) + std::string(kAskJob300);
  session_->on_bytes(as_bytes(twice), now_);
  std::vector<std::size_t> writes;
  std::string all;
  for (Segment shown; session_->output({&shown, 1}) == 1;) {
    writes.push_back(shown.bytes.size());
    all += as_text(shown.bytes);
    session_->consumed(shown.bytes.size());
    session_->released(shown.bytes.size());
  }
  EXPECT_EQ(writes, (std::vector<std::size_t>{4, 7, 4, 7}));
  EXPECT_EQ(all, std::string(kJob300Done) + std::string(kJob300Done));
}

std::string replies_to(const std::string& stream, const std::vector<std::size_t>& cuts,
                       const Settings& options) {
  const auto service = server(options);
  const auto session = service->open({});
  session->on_open(kStart);
  std::string heard;
  for (std::size_t at = 0, i = 0; at < stream.size() && session->want() == Want::bytes; ++i) {
    const std::string piece = stream.substr(at, i < cuts.size() ? cuts[i] : 5);
    at += session->on_bytes(as_bytes(piece), kStart);
    heard += take_output(*session);
  }
  while (const auto due = session->deadline()) {
    session->on_deadline(*due);
    heard += take_output(*session);
  }
  return heard + std::string(session->complaint());
}

RC_GTEST_PROP(WorkStreams, AreAnsweredAlikeHoweverCut, ()) {
  const auto jobs = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>());
  const auto cuts = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 40));
  std::string stream, expected;
  for (const std::uint32_t job : jobs) {
    stream += frame(JobRequest{job, static_cast<std::int32_t>(job % 1000)});
    expected += frame(JobResponse{job, true});
  }
  for (const Settings& options :
       {Settings{}, Settings{{"writes", "two"}}, Settings{{"work", "1us"}, {"work-kind", "sleep"}}})
    RC_ASSERT(replies_to(stream, cuts, options) == expected);
}

// Wherever the system takes less than it was shown, a write holds bytes of one part of a frame only.
RC_GTEST_PROP(WorkStreams, AreSentInTwoWritesHoweverTheyAreTaken, ()) {
  const auto jobs = *rc::gen::nonEmpty<std::vector<std::uint32_t>>();
  const auto taken = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 12));
  const auto service = server({{"writes", "two"}});
  const auto session = service->open({});
  session->on_open(kStart);
  std::string stream, expected;
  for (const std::uint32_t job : jobs) {
    stream += frame(JobRequest{job, 0});
    expected += frame(JobResponse{job, true});
  }
  session->on_bytes(as_bytes(stream), kStart);
  std::string heard;
  std::array<Segment, 4> shown;
  for (std::size_t i = 0; const std::size_t count = session->output(shown); ++i) {
    RC_ASSERT(count == 1U);
    const std::size_t most = i < taken.size() ? taken[i] : 3;
    const Bytes part = shown[0].bytes.first(std::min(most, shown[0].bytes.size()));
    const std::size_t end = heard.size() + shown[0].bytes.size();
    heard += as_text(part);
    session->consumed(part.size());
    session->released(part.size());
    // What was shown ends where a length does, or a message.
    std::size_t border = 0;
    while (border < end) {
      border += 4;
      if (border >= end) break;
      border += static_cast<std::uint8_t>(expected[border - 1]);
    }
    RC_ASSERT(border == end);
  }
  RC_ASSERT(heard == expected);
}

Duration cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Half the time, because a core may run faster later than in any trial; other programs do not count.
TEST(BusyLoopTest, TakesItsTimeOfTheProcessor) {
  const BusyLoop loop(busy_loop_rounds_per_us());
  for (const int length_ms : {2, 20}) {
    const Duration time = std::chrono::milliseconds(length_ms);
    const Duration before = cpu_time();
    loop.spend(time);
    EXPECT_GE(cpu_time() - before, time / 2);
  }
}

TEST(BusyLoopTest, NothingTakesNoTime) {
  const BusyLoop loop(busy_loop_rounds_per_us());
  const Duration before = cpu_time();
  for (int i = 0; i < 1000; ++i) loop.spend(Duration{});
  EXPECT_LT(cpu_time() - before, std::chrono::milliseconds(10));
}

}  // namespace

}  // namespace joust::work::test
