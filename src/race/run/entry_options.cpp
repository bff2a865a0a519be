// SPDX-License-Identifier: MIT
#include "race/run/entry_options.hpp"

namespace joust::race {
namespace {

// Removes a case's options from the sides on which they have no effect.
void leave_out_without_effect(Entry& entry, const ProtocolRow& protocol) {
  const Settings client = entry.client_options;
  const auto leave_out = [&](Settings& options, const EngineChoice& own, Role side) {
    std::erase_if(options, [&](const auto& option) {
      return !own.options.contains(option.first) && !protocol.no_effect(option.first, side, client).empty();
    });
  };
  leave_out(entry.server_options, entry.contestant.server, Role::serve);
  leave_out(entry.client_options, entry.contestant.client, Role::dial);
}

}  // namespace

void add_options(Entry& entry, const Case& one, const Catalogue& catalogue) {
  entry.server_options = options_of(one, entry.contestant.server, Role::serve, catalogue);
  entry.client_options = options_of(one, entry.contestant.client, Role::dial, catalogue);
  const ProtocolRow* const protocol = catalogue.protocol(one.protocol);
  if (protocol != nullptr && protocol->no_effect) leave_out_without_effect(entry, *protocol);
  if (protocol != nullptr && protocol->repeatable && !entry.contestant.external())
    entry.server_options = protocol->repeatable(entry.server_options, entry.client_options);
  if (!entry.in_process || protocol == nullptr) return;
  for (const auto& given : entry.server_options)
    if (const ProtocolOption* option = protocol->option(given.first); option != nullptr && option->in_ceiling)
      entry.client_options.insert(given);
}

}  // namespace joust::race
