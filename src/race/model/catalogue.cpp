// SPDX-License-Identifier: MIT
#include "race/model/catalogue.hpp"

#include <algorithm>

namespace joust::race {

bool is_for(const ProtocolOption& option, Role role) {
  return role == Role::serve ? option.serves : option.loads;
}

const EngineRow* Catalogue::engine(const std::string& name) const {
  const auto found = std::ranges::find(engines, name, &EngineRow::name);
  return found == engines.end() ? nullptr : &*found;
}

std::string Catalogue::standard_client(const std::string& server) const {
  const EngineRow* const row = engine(server);
  if (row == nullptr || row->delivery.empty()) return std::string(kDefaultClient);
  if (row->dials) return server;
  const auto alike = std::ranges::find_if(engines, [&](const EngineRow& other) {
    return other.dials && other.delivery == row->delivery && other.unavailable.empty();
  });
  return alike == engines.end() ? std::string(kDefaultClient) : alike->name;
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
