// SPDX-License-Identifier: MIT
//
// A load whose server does not read ends by its request timeout, even while a send of it is under way.
#include <gtest/gtest.h>

#include "conformance/files.hpp"
#include "conformance/running.hpp"
#include "hosting/mismatch.hpp"
#include "load/run.hpp"

namespace joust::conformance {
namespace {

class UnreadBy : public EngineTest {};
JOUST_EVERY_ENGINE_EACH_CHOICE(UnreadBy, Role::dial);

using std::chrono::milliseconds;

const Protocol& protocol_of(std::string_view name) {
  static const std::vector<Protocol> all = builtin_protocols();
  return *std::ranges::find(all, name, &Protocol::name);
}

// Its connections stay in the accept queue, where their bytes fill the socket's buffers.
void expect_to_end_in_time(const Variant& client, const Protocol& protocol, const Parameters& parameters) {
  if (!mismatch(*client.engine, protocol, Role::dial).empty()) return;
  SCOPED_TRACE(protocol.name);
  const Listener deaf(endpoint_of("127.0.0.1:0"), {.receive_buffer = 16 << 10});
  LoadRun load({.connections = 2, .messages = 3, .depth = 3, .request_timeout = milliseconds(100)});
  const auto asking = protocol.make_client(parameters, load);
  Limits limits = brisk();
  limits.idle = 10 * kPatience;
  limits.linger = milliseconds(50);
  Dialling dialling(client, *asking, {deaf.endpoint()}, load.plan().connections, limits);
  dialling.run().wait();
  EXPECT_EQ(load.connections_failed(), 2U);
  EXPECT_EQ(load.failures(Stage::timeout), 2U);
  EXPECT_EQ(load.recorder().counts().verified, 0U);
}

TEST_P(UnreadBy, RequestsEndByTheirTimeout) {
  checks(Duty::deadlines);
  Parameters parameters = standard_parameters(protocol_of("echo"), Role::dial);
  parameters.payload = 8 << 20;
  expect_to_end_in_time(GetParam(), protocol_of("echo"), parameters);
}

TEST_P(UnreadBy, UploadsEndByTheirTimeout) {
  checks(Duty::deadlines);
  const Parameters from_memory = with(Role::dial, {{"op", "put"}, {"bytes", "50000000"}, {"name", "put"}});
  expect_to_end_in_time(GetParam(), protocol(), from_memory);
}

TEST_P(UnreadBy, UploadsOfAFileEndByTheirTimeout) {
  checks(Duty::deadlines);
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("large"), std::ios::binary) << pattern(20'000'000);
  const Parameters from_disk =
      with(Role::dial, {{"op", "put"}, {"file", folder.file("large")}, {"name", "put"}});
  expect_to_end_in_time(GetParam(), protocol(), from_disk);
}

}  // namespace
}  // namespace joust::conformance
