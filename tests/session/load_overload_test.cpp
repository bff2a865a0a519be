// SPDX-License-Identifier: MIT
//
// Open loops at rates that a server does not keep up with, under virtual time: with so many connections that
// each request finds a free slot. Turns begin at rest, so no turn shows the backlog of a long run.
#include <gtest/gtest.h>

#include <queue>

#include "distribution.hpp"
#include "load/result.hpp"
#include "load/schedule.hpp"
#include "session/by_hand.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::heard;

// A load on echo, and a server that answers one request after the other, each after the same time.
class Overload : public test::EchoLoad {
 protected:
  struct Sizes {
    std::uint64_t connections;
    double rate_per_s, capacity_per_s;
    LoadPlan::Arrivals arrivals = LoadPlan::Arrivals::constant;
  };

  LoadResult whole(const Sizes& sizes, Duration length, Duration warmup) {
    const LoadPlan plan{.connections = sizes.connections,
                        .duration = length,
                        .warmup = warmup,
                        .rate_per_s = sizes.rate_per_s,
                        .arrivals = sizes.arrivals};
    start(plan, sizes);
    pass([] { return true; });
    return conclude(*run_, {}, false, now_);
  }

  // Turns of 100 to 150 ms, as in a race.
  LoadResult turns(const Sizes& sizes) {
    start({.connections = sizes.connections,
           .rate_per_s = sizes.rate_per_s,
           .arrivals = sizes.arrivals,
           .turns = true},
          sizes);
    for (int turn = 0; turn < 12; ++turn) {
      const Duration length = milliseconds(100 + 7 * turn % 50);
      run_->begin_turn(now_, length, length / kRampShare);
      for (std::size_t i = 0; i < sessions_.size(); ++i) look_at(i);
      pass([this] { return run_->turn_under_way(); });
      EXPECT_FALSE(run_->turn_under_way());
      now_ += seconds(1);
    }
    return conclude(*run_, {}, false, now_);
  }

 private:
  struct Event {
    Time at;
    std::size_t session;
    std::string reply{};  // empty: a deadline
    bool operator>(const Event& other) const { return at > other.at; }
  };

  void start(const LoadPlan& plan, const Sizes& sizes) {
    now_ = free_at_ = Time(seconds(3000));
    service_ = std::chrono::round<Duration>(std::chrono::duration<double>(1 / sizes.capacity_per_s));
    begin(plan, now_);
    for (std::size_t i = 0; i < sessions_.size(); ++i) look_at(i);
  }

  // Takes the session's output to the server, and notes its deadline.
  void look_at(std::size_t i) {
    if (std::string asked = heard(*sessions_[i]); !asked.empty()) {
      free_at_ = std::max(free_at_, now_) + service_;
      events_.push({.at = free_at_, .session = i, .reply = std::move(asked)});
    }
    if (const auto due = sessions_[i]->deadline()) events_.push({.at = std::max(*due, now_), .session = i});
  }

  template <typename GoesOn>
  void pass(GoesOn goes_on) {
    while (!events_.empty() && goes_on()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      Session& session = *sessions_[event.session];
      const auto due = session.deadline();
      if (event.reply.empty() && (!due || *due > now_)) continue;  // it has changed
      if (event.reply.empty())
        session.on_deadline(now_);
      else
        ASSERT_EQ(session.on_bytes(as_bytes(event.reply), now_), event.reply.size());
      look_at(event.session);
    }
  }

  Time now_{}, free_at_{};
  Duration service_{};
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

TEST_F(Overload, TwiceTheCapacityIsSeenInTurns) {
  const LoadResult load = turns({.connections = 1000, .rate_per_s = 10e3, .capacity_per_s = 5.2e3});
  EXPECT_EQ(load.messages.unsent, 0U) << "each request found a connection";
  EXPECT_NEAR(*load.achieved(), 0.52, 0.02);
  EXPECT_FALSE(load.kept_rate());
}

TEST_F(Overload, AThirdTooMuchIsSeenInTurns) {
  const LoadResult load = turns({.connections = 4000, .rate_per_s = 50e3, .capacity_per_s = 35e3});
  EXPECT_EQ(load.messages.unsent, 0U);
  EXPECT_NEAR(*load.achieved(), 0.70, 0.02);
  EXPECT_FALSE(load.kept_rate());
}

TEST_F(Overload, ASixteenthTooMuchIsSeenInTurns) {
  const LoadResult load = turns({.connections = 50, .rate_per_s = 5e3, .capacity_per_s = 4.7e3});
  EXPECT_EQ(load.messages.unsent, 0U);
  EXPECT_NEAR(*load.achieved(), 0.94, 0.01);
  EXPECT_FALSE(load.kept_rate());
}

// In a long window the slots fill up, and the rest is not sent.
TEST_F(Overload, IsSeenInOneWindow) {
  for (const double rate : {10e3, 6e3}) {
    const LoadResult load = whole({.connections = 1000, .rate_per_s = rate, .capacity_per_s = 5.2e3},
                                  seconds(1), milliseconds(100));
    EXPECT_NEAR(*load.achieved(), 5.2e3 / rate, 0.02) << rate;
    EXPECT_FALSE(load.kept_rate()) << rate;
    sessions_.clear();
  }
}

TEST_F(Overload, AServerThatKeepsUpIsNotBlamed) {
  for (const auto arrivals : {LoadPlan::Arrivals::constant, LoadPlan::Arrivals::poisson}) {
    const Sizes sizes{
        .connections = 1000, .rate_per_s = 10e3, .capacity_per_s = 11.5e3, .arrivals = arrivals};
    const LoadResult in_turns = turns(sizes);
    EXPECT_GT(*in_turns.achieved(), 0.99);
    EXPECT_TRUE(in_turns.kept_rate());
    sessions_.clear();
    const LoadResult at_once = whole(sizes, seconds(1), milliseconds(100));
    EXPECT_GT(*at_once.achieved(), 0.99);
    EXPECT_TRUE(at_once.kept_rate());
    sessions_.clear();
  }
}

// Without a warm-up the window opens with nothing in flight, and closes with the requests of one latency.
TEST(KeptRate, ALongLatencyIsNoBacklog) {
  LoadResult load;
  load.plan.rate_per_s = 1000;
  load.messages = {.sent = 1000, .verified = 1000, .open_at_close = 50};
  const auto latency = std::chrono::nanoseconds(milliseconds(50)).count();
  load.latency_ns = test::distribution_of({{static_cast<std::uint64_t>(latency), 1000}});
  EXPECT_EQ(load.achieved(), 1);
  load.messages.open_at_close = 250;
  EXPECT_NEAR(*load.achieved(), 0.8, 0.001);
  EXPECT_FALSE(load.kept_rate());
}

TEST(KeptRate, AFewRequestsMoreInFlightAreChance) {
  LoadResult load;
  load.plan.rate_per_s = 1000;
  load.messages = {.sent = 1000, .verified = 1000, .open_at_opening = 30, .open_at_close = 50};
  EXPECT_EQ(load.achieved(), 0.98);
  EXPECT_TRUE(load.kept_rate());
  load.messages.open_at_close = 75;
  EXPECT_FALSE(load.kept_rate());
}

TEST(KeptRate, WhatFailsOrIsLostIsNoReply) {
  LoadResult load;
  load.plan.rate_per_s = 1000;
  load.messages = {.sent = 1000, .verified = 900, .failed = 20, .lost = 80};
  EXPECT_EQ(load.achieved(), 1);
  EXPECT_DOUBLE_EQ(*load.answered(), 0.9);
}

}  // namespace
}  // namespace joust
