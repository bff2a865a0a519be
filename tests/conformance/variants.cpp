// SPDX-License-Identifier: MIT
#include "conformance/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/tested_engines.hpp"

namespace joust::conformance {
namespace {

std::string duty_of_the_test;

std::string as_test_name(std::string text) {
  std::ranges::replace(text, '-', '_');
  return text;
}

std::vector<Variant> variants_of(const Engine& engine) {
  EngineOptions defaults;
  for (const Knob& knob : engine.knobs) defaults.knobs.emplace(knob.name, knob.choices.front());
  std::vector<Variant> all{{&engine, defaults, as_test_name(std::string(engine.name))}};
  const auto add = [&](std::string_view what, auto&& change) {
    Variant& variant = all.emplace_back(all.front());
    variant.name += as_test_name(fmt::format("_{}", what));
    change(variant.options);
  };
  for (const Knob& knob : engine.knobs)
    for (const std::string_view choice : knob.choices.subspan(1))
      add(fmt::format("{}_{}", knob.name, choice),
          [&](EngineOptions& options) { options.knobs[std::string(knob.name)] = choice; });
  if (engine.wait_ignored.empty()) {
    add("wait_spin", [](EngineOptions& options) { options.wait = Wait::spin; });
    add("wait_adaptive", [](EngineOptions& options) { options.wait = Wait::adaptive; });
  }
  if (engine.several_loops) add("threads_2", [](EngineOptions& options) { options.threads = 2; });
  return all;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Variant& variant) {
  return out << variant.name;
}

std::vector<Variant> variants(Role role) {
  std::vector<Variant> all;
  for (const Engine* engine : tested_engines()) {
    const bool plays = role == Role::serve ? engine->serves : engine->dials;
    if (!plays || engine->in_process || engine->delivery != Delivery::Kind::stream) continue;
    std::ranges::move(variants_of(*engine), std::back_inserter(all));
  }
  return all;
}

std::vector<Variant> variants_in_process() {
  std::vector<Variant> all;
  for (const Engine* engine : tested_engines())
    if (engine->in_process) std::ranges::move(variants_of(*engine), std::back_inserter(all));
  return all;
}

void EngineTest::SetUp() {
  const Engine& engine = *GetParam().engine;
  if (engine.unavailable != nullptr)
    if (const std::string reason = engine.unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  before_ = Resources::now();
}

void EngineTest::TearDown() {
  duty_.reset();
  duty_of_the_test.clear();
  if (IsSkipped()) return;
  checks(Duty::nothing_left);
  before_.expect_back();
  duty_.reset();
}

void EngineTest::checks(Duty duty) {
  duty_of_the_test = describe(duty);
  duty_.emplace(__FILE__, __LINE__, duty_of_the_test);
}

std::string duty_in_question() {
  return duty_of_the_test;
}

}  // namespace joust::conformance
