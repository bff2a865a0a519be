// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "load/run.hpp"
#include "protocols/table.hpp"
#include "session/pair.hpp"

// Loads of a protocol whose two sides are joined in memory under virtual time.
namespace joust::test {

inline Protocol protocol_called(const std::string& name) {
  const auto all = builtin_protocols();
  return *std::ranges::find(all, name, &Protocol::name);
}

// All options of a side, with these in place of the standard ones.
inline Parameters parameters_of(const Protocol& protocol, Role side, const Settings& options) {
  Parameters all = standard_parameters(protocol, side);
  for (const auto& [name, value] : options) all.options[name] = value;
  return all;
}

// One connection of a client, from its first message to its end.
class JoinedLoad : public testing::Test {
 protected:
  explicit JoinedLoad(const std::string& protocol) : protocol_(protocol_called(protocol)) {}

  void load(const LoadPlan& plan, const Parameters& client, Service& server, Pair::Cut cut = Pair::whole) {
    run_.emplace(plan);
    const auto asking = protocol_.make_client(client, *run_);
    Pair pair(asking->open({}), server.open({}), std::move(cut));
    pair.pass(std::chrono::seconds(1));
    EXPECT_TRUE(pair.over());
  }
  std::uint64_t verified() const { return run_->recorder().counts().verified; }
  std::string complaint() const { return run_->complaints().empty() ? "" : run_->complaints().front(); }

  const Protocol protocol_;
  std::optional<LoadRun> run_;
};

}  // namespace joust::test
