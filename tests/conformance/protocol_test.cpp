// SPDX-License-Identifier: MIT
//
// Every protocol on every server engine, with each client engine for its load: every reply arrives and is
// correct.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/running.hpp"
#include "conformance/services.hpp"
#include "hosting/mismatch.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"

namespace joust::conformance {
namespace {

// The default variant of each engine that dials.
std::vector<Variant> clients() {
  std::vector<Variant> all;
  for (Variant& variant : variants(Role::dial, Settings::defaults))
    if ((all.empty() || all.back().engine != variant.engine) &&
        (variant.engine->unavailable == nullptr || variant.engine->unavailable().empty()))
      all.push_back(std::move(variant));
  return all;
}

// A sanitizer takes many times as long, and finds in a pair what it finds in either side: there each server
// meets its own engine and the next three. Without one, all pairs meet.
std::vector<Variant> clients_of(const Engine& server) {
  std::vector<Variant> all = clients();
  std::ranges::rotate(all, std::ranges::find(all, &server, &Variant::engine));
  if (is_sanitized()) all.resize(std::min<std::size_t>(all.size(), 4));
  return all;
}

class ProtocolOn : public EngineTest {
 protected:
  static void SetUpTestSuite() {
    for (const Variant& client : clients()) let_library_begin(client);
  }
};
JOUST_EVERY_ENGINE_AS_IT_COMES(ProtocolOn, Role::serve);

class ProtocolWithin : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Engines, ProtocolWithin, testing::ValuesIn(variants_in_process()),
                         [](const auto& tested) { return tested.param.name; });

LoadPlan plan_of(std::size_t payload) {
  const bool large = payload > 10'000;
  return {
      .connections = large ? 4U : 20U, .messages = large ? 5 : 50, .depth = 3, .request_timeout = kPatience};
}

std::vector<std::size_t> payloads(const Protocol& protocol) {
  return {protocol.least_payload, 32, std::min<std::size_t>(protocol.largest_payload, 100'000)};
}

void expect_complete(const LoadRun& load) {
  const Recorder::Counts counts = load.recorder().counts();
  const std::uint64_t expected = load.plan().connections * *load.plan().messages;
  EXPECT_EQ(counts.sent, expected);
  EXPECT_EQ(counts.verified, expected);
  EXPECT_EQ(counts.failed, 0U);
  EXPECT_EQ(load.connections_failed(), 0U);
  for (const std::string& complaint : load.complaints()) ADD_FAILURE() << complaint;
}

TEST_P(ProtocolOn, AnswersALoadFromEveryEngine) {
  for (const Protocol& protocol : builtin_protocols()) {
    if (!protocol.unavailable.empty()) continue;
    if (!mismatch(*GetParam().engine, protocol, Role::serve).empty()) continue;
    for (const Variant& client : clients_of(*GetParam().engine)) {
      if (!mismatch(*client.engine, protocol, Role::dial).empty()) continue;
      for (const std::size_t payload : payloads(protocol)) {
        SCOPED_TRACE(protocol.name + " from " + client.name + ", " + std::to_string(payload) + " bytes");
        Parameters parameters = standard_parameters(protocol, Role::dial);
        parameters.payload = payload;
        LoadRun load(plan_of(payload));
        const auto answering = protocol.make_server(standard_parameters(protocol, Role::serve));
        const auto asking = protocol.make_client(parameters, load);
        Server server(GetParam(), *answering);
        Dialling dialling(client, *asking, {server.endpoint()}, load.plan().connections);
        dialling.run().wait();
        server.stop();
        expect_complete(load);
        EXPECT_EQ(server.tally().failures(), 0U);
        EXPECT_EQ(server.tally().received, dialling.tally().sent);
        EXPECT_EQ(server.tally().sent, dialling.tally().received);
      }
    }
  }
}

TEST_P(ProtocolOn, CountsWhatBreaksTheProtocol) {
  const std::string frame = "\xff\xff\xff\xff", line(200, 'x');
  for (const auto& [framing, broken] :
       {std::pair<Framing, std::string>{Length4{}, frame}, {Line{.largest = 100}, line}}) {
    EchoService echo(framing);
    Server server(GetParam(), echo);
    Peer peer(server.endpoint());
    peer.send(broken);
    EXPECT_EQ(peer.receive_to_end(), "");
    peer.close();
    server.stop();
    EXPECT_EQ(server.tally().failures(Stage::verify), 1U);
    EXPECT_EQ(server.tally().failures(), 1U);
    ASSERT_EQ(server.tally().complaints().size(), 1U);
    EXPECT_TRUE(server.tally().complaints()[0].starts_with("verify: ")) << server.tally().complaints()[0];
  }
}

TEST_P(ProtocolWithin, AnswersALoad) {
  for (const Protocol& protocol : builtin_protocols()) {
    if (!protocol.unavailable.empty()) continue;
    for (const std::size_t payload : payloads(protocol)) {
      SCOPED_TRACE(protocol.name + ", " + std::to_string(payload) + " bytes");
      Parameters parameters = standard_parameters(protocol, Role::dial);
      parameters.payload = payload;
      LoadRun load(plan_of(payload));
      const auto answering = protocol.make_server(standard_parameters(protocol, Role::serve));
      const auto asking = protocol.make_client(parameters, load);
      conformance::Run run(
          GetParam(), brisk(),
          {.service = *asking, .dials = load.plan().connections, .answering = answering.get()});
      run.wait();
      expect_complete(load);
    }
  }
}

}  // namespace
}  // namespace joust::conformance
