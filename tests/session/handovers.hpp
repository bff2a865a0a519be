// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ending_exchange.hpp"
#include "joust/protocol.hpp"
#include "load/run.hpp"
#include "session/by_hand.hpp"

namespace joust::test {

inline constexpr Time kOpened = Time(std::chrono::seconds(5000));
inline const Failure kNobodyThere{Stage::connect, ECONNREFUSED, "x"};

// A load whose connections end with replies. The parts of the engine and of the server are done by hand.
class Handovers : public LoadByHand {
 protected:
  void begin(const LoadPlan& plan, EndingExchange::Words words = EndingExchange::Words::none) {
    run_.emplace(plan);
    run_->observe([this](LoadRun::Milestone milestone) { reached_.push_back(milestone); });
    run_->begin(kOpened);
    client_ = exchange_client(EndingExchange::kFraming, [words](const Parameters&) {
      return std::make_unique<EndingExchange>(words);
    })({}, *run_);
    for (std::size_t i = 0; i < plan.connections; ++i) connect(kOpened);
    wake(kOpened);
  }
  static void hear(Session& session, std::string_view replies, Time at) {
    EXPECT_EQ(session.on_bytes(as_bytes(replies), at), replies.size());
  }
  // The connection is over, and nothing is left of it; it is dialled again at once.
  void expect_an_end(Session& session, Time at) {
    EXPECT_TRUE(session.finished());
    EXPECT_TRUE(session.gives_up()) << "nothing more is wanted of it";
    EXPECT_EQ(heard(session), "");
    EXPECT_EQ(session.deadline(), std::nullopt);
    const auto order = client_->redial(at);
    ASSERT_TRUE(order.has_value());
    EXPECT_LE(order->at, at);
    EXPECT_EQ(client_->redial(at), std::nullopt) << "once";
  }
  Session& go_on(Session& session, Time ended, Time at) {
    expect_an_end(session, ended);
    return connect(at);
  }
  void expect_no_failure() const {
    EXPECT_TRUE(balances());
    EXPECT_EQ(counts().failed, 0U);
    EXPECT_EQ(run_->connections_failed(), 0U);
    EXPECT_TRUE(run_->complaints().empty());
  }
};

}  // namespace joust::test
