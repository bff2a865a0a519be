// SPDX-License-Identifier: MIT
//
// Every protocol on every server engine, and on every client engine for its load: every reply arrives and is
// correct.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/running.hpp"
#include "conformance/services.hpp"
#include "hosting/mismatch.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"
#include "usual_parameters.hpp"

namespace joust::conformance {
namespace {

// The default variant of each engine that dials.
std::vector<Variant> clients() {
  return variants(Role::dial, Settings::defaults);
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

LoadPlan plan_of(std::size_t payload, bool few) {
  const bool large = payload > 10'000;
  return {.connections = large || few ? 4U : 20U,
          .messages = large ? 5 : 50,
          .depth = 3,
          .request_timeout = kPatience};
}

std::vector<std::size_t> payloads(const Protocol& protocol) {
  if (!protocol.no_payload.empty()) return {32};
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

struct Way {
  Protocol protocol;
  std::size_t payload;
};

std::vector<Way> ways_of(const Engine& server) {
  std::vector<Way> all;
  for (const Protocol& protocol : builtin_protocols()) {
    if (!mismatch(server, protocol, Role::serve).empty()) continue;
    for (const std::size_t payload : payloads(protocol)) all.push_back({protocol, payload});
  }
  return all;
}

// Both sides hear each other's last words, however late a busy machine lets them come. It costs no time: who
// lingers ends with the other side.
Limits unhurried() {
  return {.linger = kPatience, .drain = kPatience};
}

void expect_answers(const Variant& server_engine, const Variant& client, const Way& way) {
  const auto& [protocol, payload] = way;
  if (!mismatch(*client.engine, protocol, Role::dial).empty()) return;
  SCOPED_TRACE(protocol.name + " from " + client.name + ", " + std::to_string(payload) + " bytes");
  const Delivery& delivery = server_engine.engine->delivery;
  Parameters parameters = usual_parameters(protocol, Role::dial, delivery);
  parameters.payload = payload;
  LoadRun load(plan_of(payload, forks_slowly(server_engine) || forks_slowly(client)));
  const auto answering = protocol.make_server(usual_parameters(protocol, Role::serve, delivery));
  const auto asking = protocol.make_client(parameters, load);
  Server server(server_engine, *answering, {.limits = unhurried()});
  Dialling dialling(client, *asking, {server.endpoint()}, load.plan().connections, unhurried());
  dialling.run().wait();
  server.stop();
  expect_complete(load);
  EXPECT_EQ(server.tally().failures(), 0U);
  EXPECT_EQ(server.tally().received, dialling.tally().sent);
  EXPECT_EQ(server.tally().sent, dialling.tally().received);
}

// An engine sees nothing of the other side but its bytes. So it is enough that each side carries every
// protocol with every payload, and that every two engines meet: not all of that in one product.
TEST_P(ProtocolOn, AnswersEveryLoadFromItsOwnEngine) {
  const Variant& tested = GetParam();
  if (!tested.engine->dials) GTEST_SKIP() << "it does not dial";
  for (const Way& way : ways_of(*tested.engine)) expect_answers(tested, tested, way);
}

// Each client has another protocol and payload, and at the next server another one.
TEST_P(ProtocolOn, AnswersALoadFromEveryEngine) {
  const std::vector<Variant> servers = variants(Role::serve, Settings::defaults), from = clients();
  const auto place = std::ranges::find(servers, GetParam().engine, &Variant::engine) - servers.begin();
  const std::vector<Way> ways = ways_of(*GetParam().engine);
  for (std::size_t i = 0; i < std::max(ways.size(), from.size()); ++i)
    expect_answers(GetParam(), from[(i + static_cast<std::size_t>(place)) % from.size()],
                   ways[i % ways.size()]);
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
    for (const std::size_t payload : payloads(protocol)) {
      SCOPED_TRACE(protocol.name + ", " + std::to_string(payload) + " bytes");
      Parameters parameters = usual_parameters(protocol, Role::dial);
      parameters.payload = payload;
      LoadRun load(plan_of(payload, false));
      const auto answering = protocol.make_server(usual_parameters(protocol, Role::serve));
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
