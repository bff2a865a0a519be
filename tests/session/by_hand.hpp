// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joust/session.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"

// The engine's and the server's part for sessions of echo, done by hand.
namespace joust::test {

// What the session says now, taken off its hands.
inline std::string heard(Session& session) {
  std::array<Segment, 8> segments;
  std::string text;
  const std::size_t count = session.output(segments);
  for (std::size_t i = 0; i < count; ++i) text += as_text(segments[i].bytes);
  session.consumed(text.size());
  session.released(text.size());
  return text;
}

// Sends that back.
inline void answer(Session& session, Time at) {
  const std::string reply = heard(session);
  ASSERT_FALSE(reply.empty()) << "nothing was asked";
  EXPECT_EQ(session.on_bytes(as_bytes(reply), at), reply.size());
}

// Connections of a load, whose every input a test gives by hand.
class LoadByHand : public testing::Test {
 protected:
  Session& connect(Time at) {
    sessions_.push_back(client_->open({}));
    sessions_.back()->on_open(at);
    return *sessions_.back();
  }
  // Meets the deadlines that are due.
  void wake(Time at) {
    for (const auto& session : sessions_)
      if (session->deadline() && *session->deadline() <= at) session->on_deadline(at);
  }
  Session& first() { return *sessions_.front(); }
  Recorder::Counts counts() const { return run_->recorder().counts(); }
  bool balances() const { return counts().sent == counts().verified + counts().failed + counts().in_flight; }

  std::optional<LoadRun> run_;
  std::unique_ptr<Service> client_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<LoadRun::Milestone> reached_;
};

// The same, of a load on echo.
class EchoLoad : public LoadByHand {
 protected:
  void begin(const LoadPlan& plan, Time at) {
    run_.emplace(plan);
    client_ = builtin_protocols().front().make_client({.payload = 8}, *run_);
    while (sessions_.size() < plan.connections) sessions_.push_back(client_->open({}));
    for (const auto& session : sessions_) session->on_open(at);
  }
};

}  // namespace joust::test
