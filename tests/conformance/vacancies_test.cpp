// SPDX-License-Identifier: MIT
//
// The dialling role: further connections are dialled when the service orders them.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "conformance/asking.hpp"
#include "conformance/running.hpp"

namespace joust::conformance {
namespace {

// Sessions that neither send nor end before they are told to, and orders of further ones.
class Growing : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo& /*info*/) override {
    ++opened;
    return std::make_unique<Waiting>(over_);
  }
  std::optional<Redial> redial(Time now) override {
    ++asked;
    if (over_) return std::nullopt;
    for (unsigned left = wanted_; left > 0;)
      if (wanted_.compare_exchange_weak(left, left - 1)) return Redial{.at = now};
    return Redial{.at = now + std::chrono::hours(1)};
  }
  Publications* publications() override { return &publications_; }

  void want(unsigned count) {
    wanted_ += count;
    publications_.announce();
  }
  void end() {
    over_ = true;
    publications_.announce();
  }

  std::atomic<unsigned> opened{0}, asked{0};

 private:
  class Waiting : public Session {
   public:
    explicit Waiting(const std::atomic<bool>& over) : over_(over) {}
    std::size_t on_bytes(Bytes chunk, Time /*now*/) override { return chunk.size(); }
    void on_published(Time /*now*/) override { finished_ = finished_ || over_; }
    void on_peer_finished(Time /*now*/) override { finished_ = true; }
    void on_drain(Time /*now*/) override { finished_ = true; }
    std::size_t output(std::span<Segment> /*into*/) const override { return 0; }
    bool finished() const override { return finished_; }
    bool gives_up() const override { return finished_; }
    void consumed(std::size_t /*n*/) override {}
    void released(std::size_t /*n*/) override {}

   private:
    const std::atomic<bool>& over_;
    bool finished_ = false;
  };

  Publications publications_;
  std::atomic<unsigned> wanted_{0};
  std::atomic<bool> over_{false};
};

class DialLater : public EngineTest {
 protected:
  static Limits patient() {
    Limits limits = brisk();
    limits.idle = std::chrono::hours(1);
    return limits;
  }
  template <typename Condition>
  static void await(Condition&& condition, const char* what) {
    const Time give_up = Clock::now() + kPatience;
    while (!condition()) {
      ASSERT_LT(Clock::now(), give_up) << what;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
};
JOUST_EVERY_ENGINE_AS_IT_COMES(DialLater, Role::dial);

TEST_P(DialLater, WhatTheServiceOrders) {
  checks(Duty::dialling);
  const Counterpart server(Counterpart::Manner::silent);
  Growing service;
  Dialling dialling(GetParam(), service, {server.endpoint()}, 1, patient(), 5);
  await([&] { return service.opened == 1 && service.asked > 0; }, "the first one is not there");
  EXPECT_FALSE(dialling.run().over_within(std::chrono::milliseconds(30)));
  EXPECT_EQ(service.opened, 1U) << "nobody has ordered more";
  for (const unsigned there : {3U, 5U}) {
    service.want(2);
    await([&] { return service.opened == there; }, "what was ordered does not come");
  }
  service.end();
  dialling.run().wait();
  EXPECT_EQ(service.opened, 5U);
  EXPECT_EQ(dialling.tally().failures(), 0U);
}

TEST_P(DialLater, NothingIfTheServiceEndsBefore) {
  checks(Duty::dialling);
  const Counterpart server(Counterpart::Manner::silent);
  Growing service;
  Dialling dialling(GetParam(), service, {server.endpoint()}, 1, patient(), 5);
  await([&] { return service.opened == 1; }, "the first one is not there");
  service.end();
  dialling.run().wait();
  EXPECT_EQ(service.opened, 1U);
}

TEST_P(DialLater, NothingAfterAStop) {
  checks(Duty::stop);
  const Counterpart server(Counterpart::Manner::silent);
  Growing service;
  Dialling dialling(GetParam(), service, {server.endpoint()}, 1, patient(), 5);
  await([&] { return service.opened == 1; }, "the first one is not there");
  dialling.run().stop().request();
  dialling.run().wait();
  EXPECT_EQ(service.opened, 1U);
}

}  // namespace
}  // namespace joust::conformance
