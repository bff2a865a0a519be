// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/common/command.hpp"
#include "cli/common/listing.hpp"
#include "cli/common/output.hpp"

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
                    {"options", options(protocol)},
                    {"available", protocol.unavailable.empty()},
                    {"reason", protocol.unavailable}});
  print_list(list.dump(2) + '\n');
}

void print_table(const Program& program) {
  std::vector<std::vector<std::string>> rows{{"PROTOCOL", "ROLES", "DELIVERY", "AVAILABLE", "SUMMARY"}};
  std::string reasons;
  for (const Protocol& protocol : program.protocols) {
    std::string kinds;
    for (const std::string& kind : delivery(protocol)) kinds += (kinds.empty() ? "" : ", ") + kind;
    const bool available = protocol.unavailable.empty();
    rows.push_back({protocol.name, "serve, dial", kinds, available ? "yes" : "no", protocol.summary});
    if (!available) reasons += fmt::format("\n{}: {}", protocol.name, protocol.unavailable);
  }
  print_list(for_people(columns(rows) + (reasons.empty() ? "" : reasons + '\n')));
}

}  // namespace

void add_protocols(Command root, const Program& program, int& /*exit_code*/) {
  Command command =
      root.add_command("protocols", "List the protocols of this program, and why one is unavailable");
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "as JSON");
  command.footer(fmt::format("Examples:\n  {0} protocols\n  {0} protocols --json", program.name));
  command.callback([json, &program] { *json ? print_json(program) : print_table(program); });
}

}  // namespace joust
