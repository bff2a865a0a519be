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

// Returns whether every combination of settings is wanted: script/test --all, in a build without a sanitizer,
// which detects faults of memory and order that settings hardly affect.
bool are_all_wanted() {
  const char* const tests = std::getenv("JOUST_LONG_TESTS");
  return tests != nullptr && std::string_view(tests) == "1" && !is_sanitized();
}

// Returns the row of defaults and the one that differs most from it.
std::vector<Row> two_of(std::vector<Row> rows) {
  const auto changed = [](const Row& row) { return row.size() - std::ranges::count(row, 0U); };
  const std::span others = std::span(rows).subspan(1);
  std::ranges::stable_sort(others, std::greater{}, changed);
  return {rows.front(), others.front()};
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
  std::vector<Row> rows = pairwise(choices);
  if (which == Settings::defaults)
    rows.resize(1);
  else if (!are_all_wanted() && rows.size() > 2)
    rows = two_of(std::move(rows));
  else if (which == Settings::each_choice)
    rows = each_choice(choices);
  for (const Row& row : rows) all.push_back(variant_of(engine, settings, row));
  std::erase_if(all,
                [&](const Variant& each) { return !unavailable_choice(engine, each.options.knobs).empty(); });
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
