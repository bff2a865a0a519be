// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "cli/common/command.hpp"
#include "cli/common/listing.hpp"
#include "cli/common/output.hpp"
#include "engines/engine.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

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
    list.push_back({{"name", engine->name},
                    {"summary", engine->summary},
                    {"roles", roles(*engine)},
                    {"delivery", delivery(*engine)},
                    {"listens_at", engine->listens_at()},
                    {"separate_processes", engine->separate_processes},
                    {"threads", engine->threads},
                    {"blocks_on_slow_peers", engine->blocks_on_slow_peers},
                    {"clients_wait", engine->clients_wait},
                    {"not_public", engine->not_public},
                    {"no_file_ring", engine->no_file_ring},
                    {"no_file_mapping", engine->no_file_mapping},
                    {"knobs", knobs_json(*engine)},
                    {"available", why_not.empty()},
                    {"reason", why_not}});
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

}  // namespace

void add_engines(Command root, const Program& program, int& /*exit_code*/) {
  Command command = root.add_command("engines", "List the engines, and why one is unavailable here");
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "as JSON");
  command.footer(fmt::format("Examples:\n  {0} engines\n  {0} engines --json", program.name));
  command.callback([json] { *json ? print_json() : print_table(); });
}

}  // namespace joust
