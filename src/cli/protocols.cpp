// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "cli/common/side_arguments.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> delivery(const Protocol& protocol) {
  std::vector<std::string> kinds;
  if (protocol.over_stream) kinds.emplace_back("stream");
  if (protocol.no_messages.empty()) kinds.emplace_back("message");
  return kinds;
}

Json options(const Protocol& protocol) {
  Json list = Json::array();
  for (const ProtocolOption& option : protocol.options)
    list.push_back({{"name", option.name},
                    {"summary", option.summary},
                    {"default", option.standard},
                    {"choices", option.choices},
                    {"serve", option.serves},
                    {"load", option.loads}});
  return list;
}

// Returns the range of payloads; null where messages have no payload.
Json payload(const Protocol& protocol) {
  if (!protocol.no_payload.empty()) return nullptr;
  return {{"least", protocol.least_payload}, {"largest", protocol.largest_payload}};
}

void print_json(const Program& program) {
  Json list = Json::array();
  for (const Protocol& protocol : program.protocols)
    list.push_back({{"name", protocol.name},
                    {"summary", protocol.summary},
                    {"roles", {"serve", "dial"}},
                    {"delivery", delivery(protocol)},
                    {"sessions_stand_alone", protocol.sessions_stand_alone},
                    {"payload_bytes", payload(protocol)},
                    {"options", options(protocol)}});
  print_list(list.dump(2) + '\n');
}

void print_table(const Program& program) {
  std::vector<std::vector<std::string>> rows{{"PROTOCOL", "ROLES", "DELIVERY", "SUMMARY"}};
  for (const Protocol& protocol : program.protocols) {
    std::string kinds;
    for (const std::string& kind : delivery(protocol)) kinds += (kinds.empty() ? "" : ", ") + kind;
    rows.push_back({protocol.name, "serve, dial", kinds, protocol.summary});
  }
  print_list(for_people(columns(rows)));
}

// Returns the side that an option is for, as a command.
std::string commands_of(const ProtocolOption& option) {
  if (option.serves && option.loads) return "serve, load, race";
  return option.serves ? "serve, race" : "load, race";
}

void print_one(const Program& program, const std::string& name) {
  const Protocol& protocol = resolve_protocol(program, name);
  std::string text = fmt::format("{}: {}\n", protocol.name, protocol.summary);
  if (!protocol.plugin.empty()) text += fmt::format("plug-in: {}\n", protocol.plugin);
  text += protocol.options.empty() ? "It has no options.\n" : "\n";
  for (const ProtocolOption& option : protocol.options) {
    std::vector<std::string> words;
    if (!option.choices.empty()) words.push_back(join(option.choices, " or "));
    words.push_back(commands_of(option));
    text += fmt::format("--{} ({})\n    {}{}\n", option.name, join(words, "; "), option.summary,
                        option.standard.empty() ? "" : fmt::format(" [{}]", option.standard));
  }
  print_list(for_people(text));
}

}  // namespace

void add_protocols(Command root, const Program& program, int& /*exit_code*/) {
  Command command = root.add_command("protocols", "List the protocols of this program");
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command.add_option("protocol", *name, "one protocol, or the path of a plug-in: its options")
      .type_name("PROTOCOL");
  command.add_flag("--json", *json, "all protocols as JSON");
  command.footer(fmt::format("Examples:\n  {0} protocols\n  {0} protocols {1}\n  {0} protocols --json",
                             program.name, program.protocols.back().name));
  command.callback([name, json, &program] {
    if (*json && !name->empty()) throw UsageError("--json lists all protocols: leave the name out");
    if (*json)
      print_json(program);
    else if (name->empty())
      print_table(program);
    else
      print_one(program, *name);
  });
}

}  // namespace joust
