// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "conformance/duties.hpp"
#include "conformance/resources.hpp"
#include "engines/engine.hpp"

namespace joust::conformance {

// One engine with one setting of its knobs. Everything here is read from the engine's descriptor, so that an
// engine in the table is in the suite.
struct Variant {
  const Engine* engine;
  EngineOptions options;
  std::string name;  // "epoll", "epoll_trigger_level", "epoll_threads_2": a test's name ends with it
};
std::ostream& operator<<(std::ostream& out, const Variant& variant);

// Each engine over real sockets in that role as it comes, and once more for each other choice of one setting.
std::vector<Variant> variants(Role role);

// Engines whose client and server sessions meet in one process, likewise.
std::vector<Variant> variants_in_process();

// A test that runs on every variant, and must leave descriptors, threads and children as it found them.
class EngineTest : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The first line of a test: whatever fails in it names the duty that the engine does not fulfil.
  void checks(Duty duty);

 private:
  Resources before_;
  std::optional<testing::ScopedTrace> duty_;
};

// What the test that runs now has told checks(), for people; empty where it has told nothing.
std::string duty_in_question();

}  // namespace joust::conformance

#define JOUST_EVERY_ENGINE(suite, role)                                                           \
  INSTANTIATE_TEST_SUITE_P(Engines, suite, testing::ValuesIn(joust::conformance::variants(role)), \
                           [](const auto& tested) { return tested.param.name; })
