// SPDX-License-Identifier: MIT
//
// Sessions inside other sessions on every engine: publications (a load's start, a room's messages) and files
// reach the inner session through the outer one, in TLS, and with their bytes changed.
#include <gtest/gtest.h>

#include <array>

#include "conformance/running.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"
#include "secure/guard.hpp"
#include "session/wrapping.hpp"
#include "usual_parameters.hpp"

namespace joust::conformance {
namespace {

class Wrapped : public CommonSessionsTest {};
JOUST_EVERY_ENGINE_AS_IT_COMES(Wrapped, Role::serve);

class WrappedDialling : public EngineTest {};
JOUST_EVERY_ENGINE_AS_IT_COMES(WrappedDialling, Role::dial);

class WrappedWithin : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Engines, WrappedWithin, testing::ValuesIn(variants_in_process()),
                         [](const auto& tested) { return tested.param.name; });

enum class Wrap : unsigned char { changed, tls };
constexpr std::array<std::string_view, 2> kWraps{"changed", "in TLS"};

std::unique_ptr<Service> wrapped(Wrap wrap, Service& inner, GuardSide side) {
  if (wrap == Wrap::changed) return std::make_unique<test::WrappingService>(inner);
  static const Token token = Token::make();
  return inside_tls(inner, side, token);
}

// A load of one protocol, with both sides wrapped.
struct WrappedLoad {
  WrappedLoad(Wrap wrap, const Protocol& protocol)
      : inner_server(protocol.make_server(usual_parameters(protocol, Role::serve))),
        inner_client(protocol.make_client(usual_parameters(protocol, Role::dial), run)),
        server(wrapped(wrap, *inner_server, GuardSide::server)),
        client(wrapped(wrap, *inner_client, GuardSide::client)) {}
  void expect_complete() const {
    for (const std::string& complaint : run.complaints()) ADD_FAILURE() << complaint;
    EXPECT_EQ(run.recorder().counts().verified, run.plan().connections * *run.plan().messages);
  }

  LoadRun run{{.connections = 20, .messages = 30, .depth = 2, .request_timeout = kPatience}};
  std::unique_ptr<Service> inner_server, inner_client, server, client;
};

// Calls step() with each protocol in each wrap.
template <typename Step>
void each_wrapped_load(Step&& step) {
  for (const Wrap wrap : {Wrap::changed, Wrap::tls}) {
    for (const Protocol& protocol : builtin_protocols()) {
      if (wrap == Wrap::changed && protocol.name == "file") continue;  // it does not wrap files
      SCOPED_TRACE(protocol.name + " " + std::string(kWraps[static_cast<std::size_t>(wrap)]));
      WrappedLoad load(wrap, protocol);
      step(load);
      load.expect_complete();
    }
  }
}

void load(const Variant& serving, const Variant& dialling) {
  each_wrapped_load([&](WrappedLoad& load) {
    Server server(serving, *load.server);
    Dialling clients(dialling, *load.client, {server.endpoint()}, load.run.plan().connections);
    clients.run().wait();
    server.stop();
  });
}

TEST_P(Wrapped, SessionsHearOfPublications) {
  load(GetParam(), variants(Role::dial, Settings::defaults).front());
}

TEST_P(WrappedDialling, SessionsHearOfPublications) {
  load(variants(Role::serve, Settings::defaults).front(), GetParam());
}

TEST_P(WrappedWithin, SessionsHearOfPublications) {
  each_wrapped_load([](WrappedLoad& load) {
    conformance::Run run(
        GetParam(), brisk(),
        {.service = *load.client, .dials = load.run.plan().connections, .answering = load.server.get()});
    run.wait();
  });
}

}  // namespace
}  // namespace joust::conformance
