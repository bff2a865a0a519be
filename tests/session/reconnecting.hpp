// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "session/by_hand.hpp"

namespace joust::test {

inline constexpr Time kBegin = Time(std::chrono::seconds(4000));
inline constexpr auto kAlways = LoadPlan::Reconnect::always;
inline const Failure kReset{Stage::receive, ECONNRESET, {}};

// A load on echo whose lost connections come back. The engine's part is done by hand too: redial() is asked,
// and open() follows.
class ReconnectingLoad : public EchoLoad {
 protected:
  void begin(LoadPlan plan) {
    plan.reconnect = kAlways;
    run_.emplace(plan);
    run_->observe([this](LoadRun::Milestone milestone) { reached_.push_back(milestone); });
    run_->begin(kBegin);
    client_ = builtin_protocols().front().make_client({.payload = 8}, *run_);
    for (std::size_t i = 0; i < plan.connections; ++i) connect(kBegin);
    wake(kBegin);
  }
  // The connection is dialled again at its time, which must come.
  Session& reconnect(Time lost) {
    const auto first = client_->redial(lost);
    EXPECT_TRUE(first.has_value());
    EXPECT_GT(first->at, lost);
    const auto order = client_->redial(first->at);
    EXPECT_TRUE(order && order->at <= first->at);
    return connect(first->at);
  }
  // The same, by an engine that was late.
  Session& reconnect_at(Time at) {
    const auto order = client_->redial(at);
    EXPECT_TRUE(order && order->at <= at);
    return connect(at);
  }
};

}  // namespace joust::test
