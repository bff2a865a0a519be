// SPDX-License-Identifier: MIT
//
// The protocol work on every engine in both roles, with the options that make engines work differently:
// frames in two writes, replies that become due by deadlines, and requests that occupy a thread.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/running.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"

namespace joust::conformance {
namespace {

class WorkOn : public EngineTest {
 protected:
  // All replies are right, and at most 9 of 30 come much before their time. It counts from the beginning of
  // the turn that has read the requests of all connections, which may be long before on a busy machine.
  void expect_right(const joust::Settings& serving, const joust::Settings& loading, Duration asleep) {
    Parameters asking = standard_parameters(work_, Role::dial),
               answering = standard_parameters(work_, Role::serve);
    for (const auto& [name, value] : loading) asking.options[name] = value;
    for (const auto& [name, value] : serving) answering.options[name] = value;
    LoadRun load({.connections = 5, .messages = 6, .depth = 2, .request_timeout = kPatience});
    const auto service = work_.make_server(answering);
    const auto client = work_.make_client(asking, load);
    Server server(GetParam(), *service);
    const Variant dialling =
        GetParam().engine->dials ? GetParam() : variants(Role::dial, Settings::defaults).front();
    Dialling dialled(dialling, *client, {server.endpoint()}, load.plan().connections);
    dialled.run().wait();
    server.stop();
    const Recorder::Counts counts = load.recorder().counts();
    EXPECT_EQ(counts.verified, 30U);
    EXPECT_EQ(counts.failed, 0U);
    EXPECT_EQ(server.tally().failures(), 0U);
    EXPECT_GE(load.recorder().latencies().value_at(1.0 / 3), static_cast<std::uint64_t>(asleep.count()) / 2);
    for (const std::string& complaint : load.complaints()) ADD_FAILURE() << complaint;
  }

 protected:
  const Protocol work_ = [] {
    const auto all = builtin_protocols();
    return *std::ranges::find(all, "work", &Protocol::name);
  }();
};
JOUST_EVERY_ENGINE_AS_IT_COMES(WorkOn, Role::serve);

TEST_P(WorkOn, AnswersInTwoWrites) {
  expect_right({{"writes", "two"}}, {{"writes", "two"}}, {});
}

TEST_P(WorkOn, AnswersAsleep) {
  constexpr Duration kAsleep = std::chrono::milliseconds(10);
  expect_right({{"work", "5ms"}, {"work-kind", "sleep"}}, {{"workload", "2"}}, kAsleep);
}

TEST_P(WorkOn, AnswersBusy) {
  expect_right({{"work", "100us"}, {"work-kind", "busy"}}, {}, {});
}

// The whole of it would take 200 s.
TEST_P(WorkOn, AStopDoesNotWaitForWorkThatHasArrived) {
  checks(Duty::stop);
  constexpr std::string_view kRequest("\0\0\0\6\x0a\4\x08\1\x10\1", 10);
  Parameters answering = standard_parameters(work_, Role::serve);
  answering.options["work"] = "50ms";
  const auto service = work_.make_server(answering);
  Server server(GetParam(), *service);
  Peer peer(server.endpoint());
  std::string requests;
  for (int i = 0; i < 4000; ++i) requests += kRequest;
  peer.send(requests);
  EXPECT_EQ(peer.receive(10).size(), 10U);
  server.stop();
}

}  // namespace
}  // namespace joust::conformance
