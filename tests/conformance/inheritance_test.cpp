// SPDX-License-Identifier: MIT
//
// Another process has copies of the descriptors, as a child has until exec: a socket closed here stays open
// there, and the kernel may continue to report it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/check.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"
#include "sanitized.hpp"

namespace joust::conformance {
namespace {

class Inheriting : public EngineTest {};
JOUST_EVERY_ENGINE_EACH_CHOICE(Inheriting, Role::serve);

// A process with copies of all descriptors open at its creation.
class Heir {
 public:
  Heir() : process_(checked(::fork(), "fork()")) {
    if (process_ != 0) return;
    for (;;) ::pause();
  }
  ~Heir() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Heir(const Heir&) = delete;
  Heir& operator=(const Heir&) = delete;

 private:
  const pid_t process_;
};

// libev leaves a closed descriptor in its set where another process has a copy of it, and tells by a count of
// its own that a report is of the earlier one. ThreadSanitizer takes what it then does for a use of the next
// socket.
std::string why_not(const Variant& variant) {
  const bool is_mistaken = test::is_thread_sanitized() && variant.engine->name == "libev";
  return is_mistaken ? "ThreadSanitizer takes a closed descriptor for the next one of its number" : "";
}

void expect_service(const Server& server) {
  for (int i = 0; i < 20; ++i) {
    Peer peer(server.endpoint());
    expect_to_be_served(peer);
  }
}

TEST_P(Inheriting, ACopyOfASocketThatHasEndedIsNotServed) {
  checks(Duty::nothing_left);
  if (const std::string why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
  EchoService echo;
  Server server(GetParam(), echo);
  Peer peer(server.endpoint());
  expect_to_be_served(peer);
  const Heir heir;
  peer.finish();
  expect_service(server);
}

TEST_P(Inheriting, ACopyOfASocketThatWasClosedHereIsNotServed) {
  checks(Duty::nothing_left);
  if (const std::string why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
  EchoService echo(Line{.largest = 10});
  Server server(GetParam(), echo);
  Peer peer(server.endpoint());
  expect_to_be_served(peer);
  const Heir heir;
  peer.send("a line that is too long\n");
  const Time give_up = Clock::now() + kPatience;
  while (server.tally().failures(Stage::verify) == 0) {
    ASSERT_LT(Clock::now(), give_up) << "the connection is not ended";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  peer.try_send("more\n");
  expect_service(server);
}

TEST_P(Inheriting, ACopyOfTheListenerDoesNotDisturbAStop) {
  checks(Duty::nothing_left);
  if (const std::string why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
  Limits limits = brisk();
  limits.drain = kPatience;
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  Peer peer(server.endpoint());
  expect_to_be_served(peer);
  const Heir heir;
  server.run().stop().request();
  EXPECT_EQ(peer.next(), Next::end);
  const Fd late = begin_connect(server.endpoint());
  peer.finish();
  server.run().wait();
}

}  // namespace
}  // namespace joust::conformance
