// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "connection/stream_connection.hpp"
#include "joust/outbox.hpp"

namespace joust::test {

inline constexpr Time kStart = Time(std::chrono::seconds(1000));

// A session that does what the test says and keeps what it was told. Lives on, for the test to look at. Its
// connection asks for answers only after an input: refresh() is one.
struct Script {
  Want want = Want::bytes;
  std::size_t takes_at_most = std::string::npos;  // then it wants nothing
  bool finished = false;
  bool gives_up = false;
  std::optional<Time> deadline;
  Outbox outbox;
  std::string received;
  std::vector<std::string> told;
  unsigned published = 0;  // how often it was told
};

class ScriptedSession : public Session {
 public:
  explicit ScriptedSession(Script& script) : script_(script) {}
  void on_open(Time /*now*/) override { script_.told.emplace_back("open"); }
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    EXPECT_FALSE(chunk.empty());
    EXPECT_EQ(script_.want, Want::bytes);
    const std::size_t taken = std::min(chunk.size(), script_.takes_at_most);
    script_.received += as_text(chunk.first(taken));
    script_.takes_at_most -= taken;
    if (script_.takes_at_most == 0) script_.want = Want::nothing;
    return taken;
  }
  void on_published(Time /*now*/) override { ++script_.published; }
  void on_peer_finished(Time /*now*/) override { script_.told.emplace_back("peer finished"); }
  void on_deadline(Time /*now*/) override {
    script_.told.emplace_back("deadline");
    script_.deadline.reset();
  }
  void on_drain(Time /*now*/) override { script_.told.emplace_back("drain"); }
  void on_failure(const Failure& failure, Time /*now*/) override {
    script_.told.push_back("failure: " + std::string(stage_name(failure.stage)));
  }
  std::size_t output(std::span<Segment> into) const override { return script_.outbox.segments(into); }
  Want want() const override { return script_.want; }
  std::optional<Time> deadline() const override { return script_.deadline; }
  bool finished() const override { return script_.finished; }
  bool gives_up() const override { return script_.gives_up; }
  void consumed(std::size_t n) override { script_.outbox.consumed(n); }
  void released(std::size_t n) override { script_.outbox.released(n); }

 private:
  Script& script_;
};

// The part of the engine is done by the test.
class ScriptedConnection : public testing::Test {
 protected:
  using Told = std::vector<std::string>;

  void receive(std::string_view bytes) { connection_.received(as_bytes(bytes), now_); }
  std::string output() {
    std::array<iovec, 16> pieces;
    std::string all;
    const std::size_t count = connection_.output(pieces, now_);
    for (std::size_t i = 0; i < count; ++i)
      all.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
    return all;
  }

  Script script_;
  Limits limits_{.idle = std::chrono::seconds(60), .linger = std::chrono::seconds(1)};
  Tally tally_;
  Time now_ = kStart;
  StreamConnection connection_{std::make_unique<ScriptedSession>(script_), limits_, tally_, kStart};
};

}  // namespace joust::test
