// SPDX-License-Identifier: MIT
#include "cli/race/catalogue.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cli/race/possible_race.hpp"
#include "engines/engine.hpp"
#include "hosting/mismatch.hpp"
#include "plugins/plugin_file.hpp"
#include "race/trial/transfer_trial.hpp"

namespace joust {
namespace {

// Returns whether a program is installed. Servers are in folders for the system's administrator, which are
// not in every user's PATH.
bool is_installed(const std::string& program) {
  const char* const path = std::getenv("PATH");
  const std::string folders = std::string(path == nullptr ? "" : path) + ":/usr/local/sbin:/usr/sbin";
  for (std::string_view left = folders; !left.empty();) {
    const std::size_t end = std::min(left.find(':'), left.size());
    const std::string folder(left.substr(0, end));
    if (!folder.empty() && ::access((folder + '/' + program).c_str(), X_OK) == 0) return true;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return false;
}

race::ProtocolRow row_of(const Protocol& protocol) {
  race::ProtocolRow row{.protocol = &protocol,
                        .objection = [&protocol](const race::Entry& entry, const race::Case& one) {
                          return unmet_demands(protocol, entry, one);
                        }};
  for (const Engine* engine : engines())
    for (const Role role : {Role::serve, Role::dial})
      if (std::string reason = mismatch(*engine, protocol, role); !reason.empty())
        (role == Role::serve ? row.unsupported : row.unsupported_clients)
            .emplace(engine->name, std::move(reason));
  return row;
}

}  // namespace

race::Catalogue catalogue_of(const Program& program) {
  race::Catalogue catalogue;
  catalogue.has_program = is_installed;
  catalogue.no_room = race::no_room_for;
  for (const Engine* engine : engines()) catalogue.engines.push_back(row_of(*engine));
  for (const Protocol& protocol : program.protocols) catalogue.protocols.push_back(row_of(protocol));
  for (const Protocol* plugin : loaded_plugins()) catalogue.plugins->push_back(row_of(*plugin));
  catalogue.load_plugin =
      [rows = catalogue.plugins](
          const std::string& file) -> std::expected<const race::ProtocolRow*, std::string> {
    const auto plugin = load_plugin(file);
    if (!plugin) return std::unexpected(plugin.error());
    for (const race::ProtocolRow& row : *rows)
      if (row.protocol->plugin == (*plugin)->plugin) return &row;
    return &rows->emplace_back(row_of(**plugin));
  };
  return catalogue;
}

}  // namespace joust
