// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engines/engine.hpp"
#include "files/protocol/protocol.hpp"
#include "files/store/storage_fixture.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"
#include "session/pair.hpp"

namespace joust::file::test {

using Options = std::map<std::string, std::string>;

inline Protocol protocol() {
  for (Protocol& protocol : builtin_protocols())
    if (protocol.name == "file") return protocol;
  throw std::logic_error("there is no protocol file");
}

inline Parameters with(Role side, const Options& options) {
  Parameters parameters = standard_parameters(protocol(), side);
  for (const auto& [name, value] : options) parameters.options[name] = value;
  return parameters;
}

// The figure of a group, as text.
inline std::string figure(const std::vector<ResultGroup>& groups, const std::string& name) {
  for (const ResultGroup& group : groups)
    for (const auto& [key, value] : group.figures)
      if (key == name)
        return std::visit(
            [](const auto& v) {
              if constexpr (requires { std::to_string(v); })
                return std::to_string(v);
              else
                return std::string(v);
            },
            value);
  return "no " + name;
}

// A load of the file protocol against its server, each connection a pair of sessions in memory.
class FileLoadTest : public joust::test::StorageTest {
 protected:
  struct Outcome {
    Recorder::Counts counts;
    std::vector<std::string> complaints;
    std::vector<ResultGroup> client, server;
    std::uint64_t failed = 0;
    std::string of(const std::string& name) const { return figure(client, name); }
  };

  Outcome run_load(const LoadPlan& plan, const Options& client, const Options& server = {},
                   const Pair::Cut& cut = Pair::whole) {
    Options serving{{"root", folder_.file("root")}};
    for (const auto& [name, value] : server) serving[name] = value;
    LoadRun run(plan);
    Outcome outcome;
    const auto answering = make_server(with(Role::serve, serving));
    {
      const auto asking = make_client(with(Role::dial, client), run);
      std::vector<std::unique_ptr<Pair>> pairs;
      for (std::size_t i = 0; i < plan.connections; ++i)
        pairs.push_back(std::make_unique<Pair>(asking->open({}), answering->open({}), cut));
      for (int i = 0; i < 3000 && !std::ranges::all_of(pairs, [](const auto& p) { return p->over(); }); ++i)
        for (const auto& pair : pairs) pair->pass(std::chrono::milliseconds(1));
      for (const auto& pair : pairs) EXPECT_TRUE(pair->over());
      pairs.clear();
      outcome.client = asking->results();
    }
    outcome.server = answering->results();
    outcome.counts = run.recorder().counts();
    outcome.complaints = run.complaints();
    outcome.failed = run.connections_failed();
    return outcome;
  }
  static void expect_clean(const Outcome& outcome, std::uint64_t verified) {
    for (const std::string& complaint : outcome.complaints) ADD_FAILURE() << complaint;
    EXPECT_EQ(outcome.failed, 0U);
    EXPECT_EQ(outcome.counts.verified, verified);
    EXPECT_EQ(outcome.counts.sent, verified);
  }
  std::string content(std::size_t size) const {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
    return text;
  }
};

}  // namespace joust::file::test
