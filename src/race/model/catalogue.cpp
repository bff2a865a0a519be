// SPDX-License-Identifier: MIT
#include "race/model/catalogue.hpp"

#include <algorithm>

namespace joust::race {

bool is_for(const ProtocolOption& option, Role role) {
  return role == Role::serve ? option.serves : option.loads;
}

namespace {

const EngineRow* find_row(const std::vector<EngineRow>& engines, const std::string& name) {
  const auto found =
      std::ranges::find_if(engines, [&](const EngineRow& row) { return row.engine->name == name; });
  return found == engines.end() ? nullptr : &*found;
}

bool exchange_messages(const Engine& one, const Engine& other) {
  return one.delivery.kind == other.delivery.kind && one.delivery.lossy == other.delivery.lossy &&
         one.group.empty() == other.group.empty();
}

}  // namespace

const Engine* Catalogue::engine(const std::string& name) const {
  const EngineRow* const row = find_row(engines, name);
  return row == nullptr ? nullptr : row->engine;
}

std::string Catalogue::unavailable(const std::string& engine) const {
  const EngineRow* const row = find_row(engines, engine);
  return row == nullptr ? "" : row->unavailable;
}

std::string Catalogue::standard_client(const std::string& server) const {
  const Engine* const found = engine(server);
  if (found == nullptr || !found->delivery.by_message()) return std::string(kDefaultClient);
  if (found->dials) return server;
  const auto alike = std::ranges::find_if(engines, [&](const EngineRow& other) {
    return other.engine->dials && other.unavailable.empty() && exchange_messages(*other.engine, *found);
  });
  return std::string(alike == engines.end() ? kDefaultClient : alike->engine->name);
}

const ProtocolRow* Catalogue::protocol(const std::string& name) const {
  for (const ProtocolRow& row : protocols)
    if (row.name == name) return &row;
  for (const ProtocolRow& row : *plugins)
    if (row.name == name) return &row;
  return nullptr;
}

const ProtocolOption* ProtocolRow::option(const std::string& wanted) const {
  const auto found = std::ranges::find(protocol->options, wanted, &ProtocolOption::name);
  return found == protocol->options.end() ? nullptr : &*found;
}

}  // namespace joust::race
