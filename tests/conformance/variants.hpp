// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "conformance/duties.hpp"
#include "conformance/resources.hpp"
#include "connection/tally.hpp"
#include "engines/engine.hpp"

namespace joust::conformance {

// One engine with one setting of its knobs. Everything is read from the engine's descriptor, so every engine
// in the table is in the suite.
struct Variant {
  const Engine* engine;
  EngineOptions options;
  std::string name;  // "epoll", "epoll__trigger_level_threads_2": a test's name ends with it
};
std::ostream& operator<<(std::ostream& out, const Variant& variant);

// The notes of a run, without those about a choice of a knob ("KNOB=CHOICE: ...").
std::vector<std::string> notes_of_duties(const Tally& tally, const Variant& variant);

// The settings of an engine that a suite uses. `defaults` for code that engines share. `pairwise` where two
// settings together change the calls that the suite tests: how a loop waits, takes turns, ends and stops.
// `each_choice`, where one setting may: each choice of each setting occurs, in no more rows than that takes.
// Pairs are wanted for one engine at a time (script/test --engine), and count as `each_choice` otherwise.
// Without the long tests both are cut to the defaults and the row that differs most from them. `spinning`:
// those of `pairwise` whose loops spin.
enum class Settings : std::uint8_t { defaults, each_choice, pairwise, spinning };

// Each engine of streams for that role, over real sockets; and each engine of messages. An engine or a
// setting that is not available here is left out: `Unavailable` has a skipped case for it, with the reason.
std::vector<Variant> variants(Role role, Settings which);
std::vector<Variant> message_variants(Role role, Settings which);

// The engines without a transport.
std::vector<Variant> variants_in_process();

// A test of every variant, which must leave descriptors, threads and children as it found them.
class EngineTest : public testing::TestWithParam<Variant> {
 public:
  // False for variants that the test says nothing about: they get no case. A fixture may have its own.
  static bool applies(const Variant& /*variant*/) { return true; }

 protected:
  void SetUp() override;
  void TearDown() override;

  // The first line of a test: its failures name this duty.
  void checks(Duty duty);

 private:
  std::optional<Resources> before_;
  std::optional<testing::ScopedTrace> duty_;
};

// False where an engine serves each session in a process of its own: publications do not reach them.
inline bool sessions_are_common(const Variant& variant) {
  return !variant.engine->separate_processes;
}

// A fork under a sanitizer copies the page tables of its shadow memory too, which takes tens of milliseconds.
inline bool forks_slowly(const Variant& variant) {
  return variant.engine->separate_processes && is_sanitized();
}

// Its address is a group of multicast.
inline bool sends_to_group(const Variant& variant) {
  return !variant.engine->group.empty();
}

// Any of several workers takes a peer's next event: peers share a thread by chance only.
inline bool has_several_workers(const Variant& variant) {
  return variant.engine->threads_share_peers && variant.options.threads > 1;
}

// How many peers a test needs for one on each loop. Where each peer occupies a thread, all have begun with
// one.
inline unsigned loops_of(const Variant& variant) {
  return variant.engine->clients_wait.empty() ? std::max(1U, variant.options.threads) : 1U;
}

// Tests of sessions that affect one another.
class CommonSessionsTest : public EngineTest {
 public:
  static bool applies(const Variant& variant) { return sessions_are_common(variant); }
};

// Those variants that the tests of a fixture apply to.
template <typename Fixture>
std::vector<Variant> applicable(std::vector<Variant> variants) {
  std::erase_if(variants, [](const Variant& variant) { return !Fixture::applies(variant); });
  return variants;
}

}  // namespace joust::conformance

#define JOUST_ENGINES(suite, which, role, settings)                                                       \
  INSTANTIATE_TEST_SUITE_P(Engines, suite,                                                                \
                           testing::ValuesIn(joust::conformance::applicable<suite>(                       \
                               joust::conformance::which(role, joust::conformance::Settings::settings))), \
                           [](const auto& tested) { return tested.param.name; })

// A suite for every engine of that role and kind, with pairwise settings, each choice of them, or defaults.
#define JOUST_EVERY_ENGINE(suite, role) JOUST_ENGINES(suite, variants, role, pairwise)
#define JOUST_EVERY_ENGINE_EACH_CHOICE(suite, role) JOUST_ENGINES(suite, variants, role, each_choice)
#define JOUST_EVERY_ENGINE_AS_IT_COMES(suite, role) JOUST_ENGINES(suite, variants, role, defaults)
#define JOUST_EVERY_MESSAGE_ENGINE(suite, role) JOUST_ENGINES(suite, message_variants, role, pairwise)
#define JOUST_EVERY_MESSAGE_ENGINE_EACH_CHOICE(suite, role) \
  JOUST_ENGINES(suite, message_variants, role, each_choice)
#define JOUST_EVERY_MESSAGE_ENGINE_AS_IT_COMES(suite, role) \
  JOUST_ENGINES(suite, message_variants, role, defaults)
