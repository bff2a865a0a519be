// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <optional>

#include "engines/running.hpp"

namespace joust::test {
namespace {

// A service with a peer that keeps its worker busy, from "hold" until release().
class Workshop : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo&) override { return std::make_unique<Bench>(*this); }
  Publications* publications() override { return &publications_; }

  void await_holding() { holding_.wait(); }
  void release() {
    if (!is_released_.test_and_set()) released_.count_down();
  }

 private:
  class Bench : public Session {
   public:
    explicit Bench(Workshop& all) : all_(all) { text_.reserve(1000); }  // so that shown bytes never move

    std::size_t on_bytes(Bytes chunk, Time now) override {
      const std::string_view said = as_text(chunk);
      if (said == "hold") {
        all_.holding_.count_down();
        all_.released_.wait();
      }
      if (said == "post") all_.publications_.announce();
      if (said == "wait") due_ = now + std::chrono::milliseconds(50);
      if (said == "stay") stays_ = true;
      text_ += said;
      return chunk.size();
    }
    void on_published(Time) override { text_ += " news"; }
    void on_deadline(Time) override {
      due_.reset();
      text_ += " time";
    }
    std::optional<Time> deadline() const override { return due_; }
    void on_drain(Time) override {
      text_ += " stop";
      over_ = !stays_;
    }
    void on_peer_finished(Time) override { over_ = true; }
    bool finished() const override { return over_; }
    std::size_t output(std::span<Segment> into) const override {
      const Bytes rest = as_bytes(std::string_view(text_)).subspan(sent_);
      if (rest.empty() || into.empty()) return 0;
      into.front().bytes = rest;
      return 1;
    }
    void consumed(std::size_t n) override { sent_ += n; }
    void released(std::size_t) override {}

   private:
    Workshop& all_;
    std::string text_;
    std::size_t sent_ = 0;
    std::optional<Time> due_;
    bool over_ = false;
    bool stays_ = false;  // the stop does not end it
  };

  Publications publications_;
  std::latch holding_{1}, released_{1};
  std::atomic_flag is_released_;
};

// Engines that hand peers to workers: those that can also do without.
std::vector<const Engine*> pools() {
  std::vector<const Engine*> pools;
  std::ranges::copy_if(engines(), std::back_inserter(pools),
                       [](const Engine* engine) { return engine->least_threads == 0; });
  return pools;
}

class Pool : public testing::TestWithParam<const Engine*> {
 protected:
  void SetUp() override {
    if (GetParam()->unavailable != nullptr)
      if (const std::string reason = GetParam()->unavailable(); !reason.empty()) GTEST_SKIP() << reason;
    server_.emplace(*GetParam(), shop_, limits(), EngineOptions{.threads = 2});
    held_ = connect_to(server_->address());
    other_ = connect_to(server_->address());
  }
  void TearDown() override {
    shop_.release();
    if (!IsSkipped()) server_->finish();
  }
  static constexpr Duration kDrain = std::chrono::seconds(20);

  static Limits limits() {
    Limits limits;
    limits.drain = kDrain;
    limits.linger = std::chrono::milliseconds(10);
    return limits;
  }

  void ask(const Fd& peer, const std::string& what) {
    send_all(peer, what);
    EXPECT_EQ(receive(peer, what.size()), what);
  }
  void hold() {
    send_all(held_, "hold");
    shop_.await_holding();
  }

  Workshop shop_;
  std::optional<RunningServer> server_;
  Fd held_, other_;
};

TEST_P(Pool, ASlowPeerDelaysNoOther) {
  hold();
  for (int i = 0; i < 100; ++i) ask(other_, "quick");
  for (int i = 0; i < 20; ++i) ask(connect_to(server_->address()), "new");
  shop_.release();
  EXPECT_EQ(receive(held_, 4), "hold");
}

TEST_P(Pool, APublicationReachesAPeerThatAWorkerHolds) {
  ask(held_, "here");
  hold();
  send_all(other_, "post");
  EXPECT_EQ(receive(other_, 9), "post news");
  shop_.release();
  EXPECT_EQ(receive(held_, 9), "hold news");
}

// On a slow machine it passes before.
TEST_P(Pool, ADeadlineReachesAPeerThatAWorkerHolds) {
  ask(held_, "wait");
  ask(other_, "wait");
  hold();
  EXPECT_EQ(receive(other_, 5), " time");
  shop_.release();
  const std::string heard = receive(held_, 9);
  EXPECT_TRUE(heard == "hold time" || heard == " timehold") << heard;
  ask(held_, "more");
}

TEST_P(Pool, AStopWaitsForAPeerThatAWorkerHolds) {
  ask(other_, "here");
  hold();
  server_->stop.request();
  EXPECT_EQ(receive(other_, 100), " stop");
  shop_.release();
  EXPECT_EQ(receive(held_, 100), "hold stop");
}

TEST_P(Pool, ASecondStopWaitsOnlyForTheWorkers) {
  ask(other_, "stay");
  hold();
  server_->stop.request();
  server_->stop.request();
  shop_.release();
  const Time begun = Clock::now();
  server_->finish();
  EXPECT_LT(Clock::now() - begun, kDrain / 2);
}

INSTANTIATE_TEST_SUITE_P(Engines, Pool, testing::ValuesIn(pools()), [](const auto& tested) {
  std::string name(tested.param->name);
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace joust::test
