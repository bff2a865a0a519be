// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "engines/engine.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

// Something that an engine lacks: its key in JSON, its words for people, and the descriptor's reason.
struct Lack {
  const char* key;
  std::string_view words;
  std::string_view Engine::*reason;
};

constexpr std::array kLacks{
    Lack{"blocks_on_slow_peers", "slow peers delay others", &Engine::blocks_on_slow_peers},
    Lack{"clients_wait", "clients wait", &Engine::clients_wait},
    Lack{"ends_with_peer", "loses output when its peer ends", &Engine::ends_with_peer},
    Lack{"resets_are_ends", "takes a reset for an end", &Engine::resets_are_ends},
    Lack{"resets_unseen", "misses resets while it reads nothing", &Engine::resets_unseen},
    Lack{"spins_at_shortage", "spins without descriptors", &Engine::spins_at_shortage},
    Lack{"wait_ignored", "ignores --wait", &Engine::wait_ignored},
    Lack{"wait_errors_abort", "aborts if a wait fails", &Engine::wait_errors_abort},
    Lack{"wait_errors_ignored", "repeats a wait that fails", &Engine::wait_errors_ignored},
    Lack{"not_public", "is not public", &Engine::not_public},
    Lack{"no_file_ring", "has no ring for files", &Engine::no_file_ring},
    Lack{"no_file_mapping", "sends no mapped file", &Engine::no_file_mapping},
};

std::vector<std::string> roles(const Engine& engine) {
  std::vector<std::string> roles;
  if (engine.serves) roles.emplace_back("serve");
  if (engine.dials) roles.emplace_back("dial");
  return roles;
}

std::string_view delivery(const Engine& engine) {
  return engine.delivery.by_message() ? "message" : "stream";
}

std::string reason(const Engine& engine) {
  return engine.unavailable ? engine.unavailable() : "";
}

Json knobs_json(const Engine& engine) {
  Json knobs = Json::array();
  for (const Knob& knob : engine.knobs)
    knobs.push_back({{"name", knob.name},
                     {"choices", knob.choices},
                     {"any_text", knob.any_text},
                     {"default", knob.choices.front()},
                     {"unavailable", Json(unavailable_choices(knob))},
                     {"summary", knob.summary}});
  return knobs;
}

void print_json() {
  Json list = Json::array();
  for (const Engine* engine : engines()) {
    const std::string why_not = reason(*engine);
    Json row = {{"name", engine->name},
                {"summary", engine->summary},
                {"roles", roles(*engine)},
                {"delivery", delivery(*engine)},
                {"listens_at", engine->listens_at()},
                {"separate_processes", engine->separate_processes},
                {"threads", engine->threads}};
    for (const Lack& lack : kLacks) row[lack.key] = engine->*lack.reason;
    row["knobs"] = knobs_json(*engine);
    row["available"] = why_not.empty();
    row["reason"] = why_not;
    list.push_back(std::move(row));
  }
  print_list(list.dump(2) + '\n');
}

void print_table() {
  std::vector<std::vector<std::string>> rows{
      {"ENGINE", "ROLES", "DELIVERY", "THREADS", "AVAILABLE", "SUMMARY"}};
  std::string reasons;
  for (const Engine* engine : engines()) {
    const std::string why_not = reason(*engine);
    rows.push_back({std::string(engine->name), join(roles(*engine)), std::string(delivery(*engine)),
                    std::string(engine->threads), why_not.empty() ? "yes" : "no",
                    std::string(engine->summary)});
    if (!why_not.empty()) {
      reasons += fmt::format("\n{}: {}", engine->name, why_not);
      continue;
    }
    for (const Knob& knob : engine->knobs)
      for (const auto& [choice, why] : unavailable_choices(knob))
        reasons += fmt::format("\n{}:{}={}: {}", engine->name, knob.name, choice, why);
  }
  print_list(for_people(columns(rows) + (reasons.empty() ? "" : reasons + '\n')));
}

// Returns the values of a knob and its standard: "edge or level [edge]".
std::string values_of(const Knob& knob) {
  const std::vector<std::string> choices(knob.choices.begin(), knob.choices.end());
  return fmt::format("{} [{}]", knob.any_text ? "any text" : join(choices, " or "), knob.choices.front());
}

void print_one(const std::string& name) {
  const Engine* const engine = find_engine(name);
  if (engine == nullptr) {
    std::vector<std::string> names;
    for (const Engine* each : engines()) names.emplace_back(each->name);
    throw UsageError(fmt::format("no engine '{}'; {}", name, suggestion(name, names)));
  }
  const std::string why_not = reason(*engine);
  std::vector<std::vector<std::string>> rows{{"engine", name},
                                             {"summary", std::string(engine->summary)},
                                             {"roles", join(roles(*engine))},
                                             {"delivery", std::string(delivery(*engine))},
                                             {"threads", std::string(engine->threads)},
                                             {"available", why_not.empty() ? "yes" : "no: " + why_not}};
  for (const Knob& knob : engine->knobs)
    rows.push_back({fmt::format("--{}", knob.name), values_of(knob), std::string(knob.summary)});
  for (const Lack& lack : kLacks)
    if (const std::string_view text = engine->*lack.reason; !text.empty())
      rows.push_back({std::string(lack.words), std::string(text)});
  print_list(for_people(columns(rows)));
}

}  // namespace

void add_engines(Command root, const Program& program, int& /*exit_code*/) {
  Command command = root.add_command("engines", "List the engines, and why one is unavailable here");
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command.add_option("engine", *name, "one engine: its options, and what it lacks").type_name("ENGINE");
  command.add_flag("--json", *json, "all engines as JSON");
  command.footer(
      fmt::format("Examples:\n  {0} engines\n  {0} engines qt\n  {0} engines --json", program.name));
  command.callback([name, json] {
    if (*json) return print_json();
    name->empty() ? print_table() : print_one(*name);
  });
}

}  // namespace joust
