// SPDX-License-Identifier: MIT
//
// Engines that this build lacks: they are listed with the reason, whatever their settings are.
#include "engines/engine_choice.hpp"

#include <gtest/gtest.h>

#include "engines/engine.hpp"

namespace joust {
namespace {

bool no_option(const std::string& /*name*/) {
  return false;
}

TEST(MissingEngine, HasARowWithTheReason) {
  for (const Engine* const engine : engines()) {
    if (engine->run != nullptr) continue;
    EXPECT_FALSE(engine->unavailable().empty()) << engine->name;
    EXPECT_FALSE(engine->summary.empty()) << engine->name;
    EXPECT_EQ(engine->threads, "-") << engine->name;
  }
}

TEST(MissingEngine, TakesTheSettingsOfAScenario) {
  Engine missing{};
  missing.name = "io-uring";
  for (const auto& [knob, value] : {std::pair{"sqpoll", "on"}, {"threads", "0"}, {"wait", "spin"}}) {
    EngineChoice choice{.engine = std::string(missing.name)};
    EXPECT_TRUE(set_knob(choice, knob, value, missing, no_option));
    EXPECT_EQ(choice.knobs.at(knob), value);
  }
}

TEST(PresentEngine, RefusesAKnobThatItLacks) {
  EngineChoice choice{.engine = "poll"};
  EXPECT_FALSE(set_knob(choice, "sqpoll", "on", *find_engine("poll"), no_option));
}

}  // namespace
}  // namespace joust
