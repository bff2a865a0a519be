// SPDX-License-Identifier: MIT
//
// Every protocol between engines of messages, both directly and through a link that loses, repeats and
// reorders datagrams.
#include <gtest/gtest.h>

#include "conformance/lossy_relay.hpp"
#include "conformance/running.hpp"
#include "hosting/mismatch.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"
#include "usual_parameters.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

class MessageLoad : public EngineTest {};
JOUST_EVERY_MESSAGE_ENGINE_AS_IT_COMES(MessageLoad, Role::serve);

// The default variant of each engine that can dial the server.
std::vector<Variant> clients_of(const Variant& server) {
  std::vector<Variant> all;
  for (Variant& variant : message_variants(Role::dial, Settings::defaults))
    if (mismatch(*server.engine, *variant.engine).empty()) all.push_back(std::move(variant));
  return all;
}

std::vector<Protocol> protocols_for(const Variant& server) {
  std::vector<Protocol> fitting;
  for (const Protocol& protocol : builtin_protocols())
    if (mismatch(*server.engine, protocol, Role::serve).empty()) fitting.push_back(protocol);
  return fitting;
}

struct Outcome {
  Recorder::Counts counts;
  std::uint64_t connections_failed = 0;
  DatagramCounts at_server, at_client;
};

// Runs a load to its end; through a relay, if there are faults.
Outcome run_load(const Variant& server_engine, const Variant& client_engine, const Protocol& protocol,
                 const LoadPlan& plan, std::size_t payload, const LossyLink::Faults* faults = nullptr) {
  Parameters parameters = usual_parameters(protocol, Role::dial, server_engine.engine->delivery);
  parameters.payload = payload;
  LoadRun load(plan);
  const auto answering =
      protocol.make_server(usual_parameters(protocol, Role::serve, server_engine.engine->delivery));
  const auto asking = protocol.make_client(parameters, load);
  Server server(server_engine, *answering);
  std::optional<LossyRelay> relay;
  if (faults != nullptr) relay.emplace(server.endpoint(), *faults, 7);
  const Endpoint to = relay ? relay->endpoint() : server.endpoint();
  Dialling dialling(client_engine, *asking, {to}, plan.connections);
  dialling.run().wait();
  server.stop();
  for (const std::string& complaint : load.complaints()) ADD_FAILURE() << complaint;
  return {load.recorder().counts(), load.connections_failed(), server.tally().datagrams(),
          dialling.tally().datagrams()};
}

TEST_P(MessageLoad, AnswersALoadOfEveryProtocolFromEveryEngine) {
  for (const Protocol& protocol : protocols_for(GetParam()))
    for (const Variant& client : clients_of(GetParam()))
      for (const std::size_t payload : {protocol.least_payload, std::size_t{32}, std::size_t{20'000}}) {
        SCOPED_TRACE(protocol.name + " from " + client.name + ", " + std::to_string(payload) + " bytes");
        const LoadPlan plan{.connections = 10,
                            .messages = payload > 1'000 ? 3 : 30,
                            .depth = 3,
                            .request_timeout = kPatience};
        const Outcome outcome = run_load(GetParam(), client, protocol, plan, payload);
        EXPECT_EQ(outcome.counts.verified, plan.connections * *plan.messages);
        EXPECT_EQ(outcome.counts.sent, outcome.counts.verified);
        EXPECT_EQ(outcome.connections_failed, 0U);
        EXPECT_EQ(outcome.at_server.lost + outcome.at_client.lost, 0U);
        EXPECT_EQ(outcome.at_server.foreign + outcome.at_server.truncated, 0U);
      }
}

TEST_P(MessageLoad, CountsWhatALossyLinkLosesAndFailsNoConnection) {
  if (!GetParam().engine->delivery.lossy) GTEST_SKIP() << "TCP repeats what is lost";
  const LossyLink::Faults faults{.lost = 100,
                                 .duplicated = 100,
                                 .reordered = 100,
                                 .truncated = 20,
                                 .flipped = 20,
                                 .hold = milliseconds(2)};
  for (const Protocol& protocol : protocols_for(GetParam())) {
    SCOPED_TRACE(protocol.name);
    const LoadPlan plan{.connections = 5, .messages = 40, .depth = 2, .request_timeout = milliseconds(100)};
    const Outcome outcome = run_load(GetParam(), GetParam(), protocol, plan, 32, &faults);
    EXPECT_EQ(outcome.connections_failed, 0U);
    EXPECT_EQ(outcome.counts.sent, outcome.counts.verified + outcome.counts.lost);
    EXPECT_GT(outcome.counts.verified, 0U);
    EXPECT_GT(outcome.counts.lost, 0U);
    EXPECT_GT(outcome.at_server.lost + outcome.at_client.lost, 0U);
    EXPECT_GT(outcome.at_server.duplicated + outcome.at_client.duplicated, 0U);
    EXPECT_GT(outcome.at_server.truncated + outcome.at_client.truncated, 0U);
    EXPECT_EQ(outcome.at_server.expected, outcome.at_server.received + outcome.at_server.lost);
    EXPECT_EQ(outcome.at_client.expected, outcome.at_client.received + outcome.at_client.lost);
  }
}

}  // namespace
}  // namespace joust::conformance
