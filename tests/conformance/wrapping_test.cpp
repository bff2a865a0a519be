// SPDX-License-Identifier: MIT
//
// Sessions inside other sessions, as TLS will need them, on every engine: publications (a load's start, a
// room's messages) reach the inner session through the outer one.
#include <gtest/gtest.h>

#include "conformance/running.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"
#include "session/wrapping.hpp"

namespace joust::conformance {
namespace {

class Wrapped : public CommonSessionsTest {};
JOUST_EVERY_ENGINE_AS_IT_COMES(Wrapped, Role::serve);

class WrappedDialling : public EngineTest {};
JOUST_EVERY_ENGINE_AS_IT_COMES(WrappedDialling, Role::dial);

class WrappedWithin : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Engines, WrappedWithin, testing::ValuesIn(variants_in_process()),
                         [](const auto& tested) { return tested.param.name; });

// A load of one protocol, with both sides wrapped.
struct WrappedLoad {
  void expect_complete() const {
    for (const std::string& complaint : run.complaints()) ADD_FAILURE() << protocol.name << ": " << complaint;
    EXPECT_EQ(run.recorder().counts().verified, run.plan().connections * *run.plan().messages)
        << protocol.name;
  }

  Protocol protocol;
  LoadRun run{{.connections = 20, .messages = 30, .depth = 2, .request_timeout = kPatience}};
  std::unique_ptr<Service> inner_server = protocol.make_server(standard_parameters(protocol, Role::serve));
  std::unique_ptr<Service> inner_client =
      protocol.make_client(standard_parameters(protocol, Role::dial), run);
  test::WrappingService server{*inner_server}, client{*inner_client};
};

std::vector<Protocol> wrappable() {
  std::vector<Protocol> all = builtin_protocols();
  std::erase_if(all, [](const Protocol& protocol) { return protocol.name == "file"; });
  return all;
}

void load(const Variant& serving, const Variant& dialling) {
  for (const Protocol& protocol : wrappable()) {
    WrappedLoad wrapped{protocol};
    Server server(serving, wrapped.server);
    Dialling clients(dialling, wrapped.client, {server.endpoint()}, wrapped.run.plan().connections);
    clients.run().wait();
    server.stop();
    wrapped.expect_complete();
  }
}

TEST_P(Wrapped, SessionsHearOfPublications) {
  load(GetParam(), variants(Role::dial, Settings::defaults).front());
}

TEST_P(WrappedDialling, SessionsHearOfPublications) {
  load(variants(Role::serve, Settings::defaults).front(), GetParam());
}

TEST_P(WrappedWithin, SessionsHearOfPublications) {
  for (const Protocol& protocol : wrappable()) {
    WrappedLoad wrapped{protocol};
    conformance::Run run(
        GetParam(), brisk(),
        {.service = wrapped.client, .dials = wrapped.run.plan().connections, .answering = &wrapped.server});
    run.wait();
    wrapped.expect_complete();
  }
}

}  // namespace
}  // namespace joust::conformance
