// SPDX-License-Identifier: MIT
//
// A thousand signals a second, which interrupt every blocking call, have no effect.
#include <gtest/gtest.h>
#include <sys/time.h>

#include <csignal>
#include <future>
#include <optional>

#include "base/check.hpp"
#include "conformance/asking.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"

namespace joust::conformance {
namespace {

// Blocks SIGALRM in this thread and in those it starts.
class AlarmsBlocked {
 public:
  AlarmsBlocked() {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    checked_number(::pthread_sigmask(SIG_BLOCK, &alarm, &before_), "pthread_sigmask()");
  }
  ~AlarmsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AlarmsBlocked(const AlarmsBlocked&) = delete;
  AlarmsBlocked& operator=(const AlarmsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// SIGALRM every millisecond, without SA_RESTART, to all threads that existed before this one.
class SignalStorm {
 public:
  SignalStorm() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    checked(::sigaction(SIGALRM, &action, &before_), "sigaction(SIGALRM)");
    const itimerval every{.it_interval = {0, 1000}, .it_value = {0, 1000}};
    checked(::setitimer(ITIMER_REAL, &every, nullptr), "setitimer()");
  }
  ~SignalStorm() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;  // discards a pending signal
    ::sigaction(SIGALRM, &ignore, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  SignalStorm(const SignalStorm&) = delete;
  SignalStorm& operator=(const SignalStorm&) = delete;

 private:
  AlarmsBlocked here_;
  struct sigaction before_ {};
};

// Signals do not reach the processes of an engine that forks.
class ServingInterrupted : public EngineTest {
 public:
  static bool applies(const Variant& variant) { return !variant.engine->separate_processes; }
};
JOUST_EVERY_ENGINE_EACH_CHOICE(ServingInterrupted, Role::serve);

TEST_P(ServingInterrupted, GivesTheSameAnswers) {
  EchoService echo;
  Server server(
      GetParam(), echo,
      {.socket = {.send_buffer = 16 << 10, .receive_buffer = 16 << 10}});  // so that sends block too
  const SignalStorm storm;
  const std::string message = pattern(200'000);
  const Time enough = Clock::now() + std::chrono::milliseconds(100);
  do {
    Peer peer(server.endpoint(), 16 << 10);
    const bool finishes = GetParam().engine->ends_with_peer.empty();
    const auto sender = std::async(std::launch::async, [&] {
      peer.send(message);
      if (finishes) peer.finish();
    });
    ASSERT_TRUE((finishes ? peer.receive_to_end() : peer.receive(message.size())) == message);
  } while (Clock::now() < enough);
  server.stop();
  EXPECT_EQ(server.tally().failures(), 0U);
}

class DiallingInterrupted : public EngineTest {};
JOUST_EVERY_ENGINE_EACH_CHOICE(DiallingInterrupted, Role::dial);

TEST_P(DiallingInterrupted, GivesTheSameAnswers) {
  std::optional<Counterpart> server;
  {
    const AlarmsBlocked not_the_server;
    server.emplace(Counterpart::Manner::in_pieces);
  }
  AskingService asking({.requests = 50});
  Dialling dialling(GetParam(), asking, {server->endpoint()}, 10);
  const SignalStorm storm;
  dialling.run().wait();
  EXPECT_EQ(asking.answered, 500U);
  EXPECT_EQ(dialling.tally().failures(), 0U);
}

}  // namespace
}  // namespace joust::conformance
