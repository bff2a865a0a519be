// SPDX-License-Identifier: MIT
//
// A failure of one connection affects no other: a session that throws, for lack of memory or because of a
// bug.
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <system_error>

#include "base/memory.hpp"
#include "conformance/running.hpp"
#include "session/handler_session.hpp"

namespace joust::conformance {
namespace {

class Misfortune : public EngineTest {};
JOUST_EVERY_ENGINE_AS_IT_COMES(Misfortune, Role::serve);

// Echoes lines, and throws for some of them.
class FragileHandler : public Handler {
 public:
  bool on_message(Bytes message, Writer& replies) override {
    const std::string_view text = as_text(message);
    if (text == "memory") throw std::bad_alloc();
    if (text == "system") throw std::system_error(EIO, std::generic_category(), "a call");
    if (text == "other") throw std::runtime_error("a fault of the session");
    replies.send(message);
    return true;
  }
};

class FragileService : public HandlerService {
 public:
  FragileService() : HandlerService(Line{}, [] { return std::make_unique<FragileHandler>(); }) {}
  std::unique_ptr<Session> open(const ConnectionInfo& info) override {
    if (*refusing) throw std::bad_alloc();
    return HandlerService::open(info);
  }
  SharedMemory<std::atomic<bool>> refusing{false};
};

TEST_P(Misfortune, OfASessionThatThrowsIsItsOwn) {
  checks(Duty::misfortune);
  FragileService fragile;
  Server server(GetParam(), fragile);
  Peer other(server.endpoint());
  expect_to_be_served(other);
  for (const std::string line : {"memory\n", "system\n", "other\n"}) {
    Peer unlucky(server.endpoint());
    expect_to_be_served(unlucky);
    unlucky.send(line);
    EXPECT_NE(unlucky.next(), Next::data);
    expect_to_be_served(other);
  }
  Peer later(server.endpoint());
  expect_to_be_served(later);
  server.stop();  // a process may close its socket before it counts
  EXPECT_EQ(server.tally().failures(Stage::local), 3U);
  EXPECT_EQ(server.tally().failures(), 3U);
  const std::vector<std::string> words{"local: Cannot allocate memory", "local: a call: Input/output error",
                                       "local: a fault of the session"};
  EXPECT_EQ(server.tally().complaints(), words);
}

TEST_P(Misfortune, OfASessionThatCannotBeMadeIsItsOwn) {
  checks(Duty::misfortune);
  FragileService fragile;
  Server server(GetParam(), fragile);
  Peer before(server.endpoint());
  expect_to_be_served(before);
  *fragile.refusing = true;
  for (int i = 0; i < 5; ++i) EXPECT_NE(Peer(server.endpoint()).next(), Next::data);
  *fragile.refusing = false;
  expect_to_be_served(before);
  Peer later(server.endpoint());
  expect_to_be_served(later);
  server.stop();
  EXPECT_EQ(server.tally().failures(Stage::local), 5U);
}

}  // namespace
}  // namespace joust::conformance
