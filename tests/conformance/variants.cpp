// SPDX-License-Identifier: MIT
#include "conformance/variants.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "conformance/pairwise.hpp"
#include "conformance/running.hpp"
#include "conformance/tested_engines.hpp"
#include "conformance/wire.hpp"

namespace joust::conformance {
namespace {

std::string as_test_name(std::string text) {
  std::ranges::replace(text, '-', '_');
  return text;
}

// A setting of an engine with more than one choice, the default first.
struct Setting {
  std::string name;
  std::vector<std::string> choices;
  std::function<void(EngineOptions&, std::size_t choice)> apply;
};

std::vector<Setting> settings_of(const Engine& engine) {
  std::vector<Setting> all;
  for (const Knob& knob : engine.knobs)
    if (knob.for_others.empty())
      all.push_back({std::string(knob.name),
                     {knob.choices.begin(), knob.choices.end()},
                     [knob](EngineOptions& options, std::size_t choice) {
                       options.knobs[std::string(knob.name)] = knob.choices[choice];
                     }});
  if (engine.wait_ignored.empty())
    all.push_back({"wait", {"block", "spin", "adaptive"}, [](EngineOptions& options, std::size_t choice) {
                     options.wait = std::array{Wait::block, Wait::spin, Wait::adaptive}[choice];
                   }});
  if (engine.several_loops) {
    std::vector<std::string> threads{"1", "2"};
    if (engine.least_threads == 0) threads.emplace_back("0");
    if (!engine.clients_wait.empty()) threads = {"256"};  // more than any test has clients
    all.push_back({"threads", threads, [threads](EngineOptions& options, std::size_t choice) {
                     options.threads = static_cast<unsigned>(std::stoul(threads[choice]));
                   }});
  }
  return all;
}

Variant variant_of(const Engine& engine, const std::vector<Setting>& settings, const Row& row) {
  Variant variant{&engine, {}, as_test_name(std::string(engine.name))};
  for (std::size_t i = 0; i < settings.size(); ++i) {
    settings[i].apply(variant.options, row[i]);
    if (row[i] == 0) continue;
    // Two underscores end the engine's name: a filter then tells epoll from an engine epoll_something.
    variant.name += variant.name.contains("__") ? "_" : "__";
    variant.name += as_test_name(settings[i].name + "_" + settings[i].choices[row[i]]);
  }
  return variant;
}

bool is_set(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr && std::string_view(text) == "1";
}

// Return whether each choice of each setting is wanted (script/test --all), and all pairs of choices
// (script/test
// --engine). Not under a sanitizer, which detects faults of memory and order that settings hardly affect.
bool is_each_choice_wanted() {
  return is_set("JOUST_LONG_TESTS") && !is_sanitized();
}
bool are_pairs_wanted() {
  return is_set("JOUST_SETTINGS_IN_PAIRS") && !is_sanitized();
}

bool spins(const Row& row, const std::vector<Setting>& settings) {
  for (std::size_t i = 0; i < settings.size(); ++i)
    if (settings[i].name == "wait" && settings[i].choices[row[i]] == "spin") return true;
  return false;
}

// Returns the row of defaults and the one that differs most from it. Rows that spin come last: a loop that
// spins takes a whole core for as long as a case waits. But the thread sanitizer is to see such loops.
std::vector<Row> two_of(const std::vector<Row>& rows, const std::vector<Setting>& settings) {
  const auto merit = [&](const Row& row) {
    const auto same = static_cast<std::size_t>(std::ranges::count(row, 0U));
    return std::pair(test::is_thread_sanitized() || !spins(row, settings), row.size() - same);
  };
  return {rows.front(), *std::ranges::max_element(std::span(rows).subspan(1), {}, merit)};
}

// The reason why an engine cannot run here; empty if it can.
std::string why_unavailable(const Engine& engine) {
  if (test::is_thread_sanitized() && engine.name == "libuv")
    return "libuv closes descriptors by a system call that ThreadSanitizer does not see: it takes the next "
           "descriptor of that number for the old one";
  return engine.unavailable == nullptr ? std::string{} : engine.unavailable();
}

// The engine with its defaults, and with pairwise settings. Each of them is asked for by every suite.
std::vector<Variant> variants_of(const Engine& engine, Settings which) {
  static std::map<std::pair<const Engine*, Settings>, std::vector<Variant>> known;
  if (const auto found = known.find({&engine, which}); found != known.end()) return found->second;
  std::vector<Variant>& all = known[{&engine, which}];
  if (!why_unavailable(engine).empty()) return all;
  const std::vector<Setting> settings = settings_of(engine);
  std::vector<std::size_t> choices;
  for (const Setting& setting : settings) choices.push_back(setting.choices.size());
  const auto erase_unavailable = [&](std::vector<Row>& rows) {
    std::erase_if(rows, [&](const Row& row) {
      return unavailable_choice(engine, variant_of(engine, settings, row).options.knobs).has_value();
    });
  };
  std::vector<Row> rows = pairwise(choices);
  erase_unavailable(rows);
  // The address sanitizer looks at the memory of an engine. Threads and waiting are shared by all.
  const bool is_like_the_others = is_sanitized() && !test::is_thread_sanitized() && engine.knobs.empty();
  if (which == Settings::defaults || (is_like_the_others && which != Settings::spinning))
    rows.resize(1);
  else if (which == Settings::spinning)
    std::erase_if(rows, [&](const Row& row) { return !spins(row, settings); });
  else if (!is_each_choice_wanted() && rows.size() > 2)
    rows = two_of(rows, settings);
  else if (which == Settings::each_choice || !are_pairs_wanted())
    erase_unavailable(rows = each_choice(choices));
  for (const Row& row : rows) all.push_back(variant_of(engine, settings, row));
  return all;
}

std::vector<Variant> variants(Role role, Settings which, Delivery::Kind kind) {
  std::vector<Variant> all;
  for (const Engine* engine : tested_engines()) {
    const bool plays = role == Role::serve ? engine->serves : engine->dials;
    if (!plays || engine->in_process || engine->delivery.kind != kind) continue;
    std::ranges::move(variants_of(*engine, which), std::back_inserter(all));
  }
  return all;
}

// Something that is not available here.
struct Missing {
  std::string name;  // of an engine, or of an engine with one choice of a setting
  std::string why;
};
std::ostream& operator<<(std::ostream& out, const Missing& missing) {
  return out << missing.name;
}

std::vector<Missing> all_missing() {
  std::vector<Missing> all;
  for (const Engine* engine : tested_engines()) {
    const std::string name = as_test_name(std::string(engine->name));
    if (const std::string why = why_unavailable(*engine); !why.empty()) {
      all.push_back({name, why});
      continue;
    }
    for (const Knob& knob : engine->knobs)
      for (const auto& [choice, why] : unavailable_choices(knob))
        all.push_back({name + "__" + as_test_name(std::string(knob.name) + "_" + choice), why});
  }
  return all;
}

class Unavailable : public testing::TestWithParam<Missing> {};
INSTANTIATE_TEST_SUITE_P(Engines, Unavailable, testing::ValuesIn(all_missing()),
                         [](const auto& missing) { return missing.param.name; });
TEST_P(Unavailable, IsNotTested) {
  GTEST_SKIP() << GetParam().why;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Variant& variant) {
  return out << variant.name;
}

std::vector<std::string> notes_of_duties(const Tally& tally, const Variant& variant) {
  std::vector<std::string> notes = tally.notes();
  for (const Knob& knob : variant.engine->knobs)
    std::erase_if(notes,
                  [&](const std::string& note) { return note.starts_with(std::string(knob.name) + '='); });
  return notes;
}

std::vector<Variant> variants(Role role, Settings which) {
  return variants(role, which, Delivery::Kind::stream);
}

std::vector<Variant> message_variants(Role role, Settings which) {
  return variants(role, which, Delivery::Kind::message);
}

std::vector<Variant> variants_in_process() {
  std::vector<Variant> all;
  for (const Engine* engine : tested_engines())
    if (engine->in_process)
      std::ranges::move(variants_of(*engine, Settings::pairwise), std::back_inserter(all));
  return all;
}

void EngineTest::SetUp() {
  speak(GetParam().engine->transport);
  let_library_begin(GetParam());
  before_ = Resources::now();
}

void EngineTest::TearDown() {
  duty_.reset();
  question(std::nullopt);
  if (!before_) return;
  if (IsSkipped()) {
    before_->not_back();  // some libraries tidy up a moment later: not in the next case
    return;
  }
  checks(Duty::nothing_left);
  before_->expect_back();
  duty_.reset();
}

void EngineTest::checks(Duty duty) {
  question(duty);
  duty_.emplace(__FILE__, __LINE__, describe(duty));
}

}  // namespace joust::conformance
