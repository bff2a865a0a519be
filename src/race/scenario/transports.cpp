// SPDX-License-Identifier: MIT
#include "race/scenario/transports.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "race/scenario/engine_choice.hpp"

namespace joust::race {

std::expected<void, std::string> sweep_transports(const std::vector<std::string>& transports,
                                                  Scenario& scenario, const Catalogue& catalogue) {
  std::vector<Contestant> contestants;
  for (const Contestant& contestant : scenario.contestants) {
    if (contestant.external()) {
      contestants.push_back(contestant);
      continue;
    }
    std::set<std::string> taken;
    for (const std::string& transport : transports) {
      if (!taken.insert(transport).second) continue;
      Contestant& one = contestants.emplace_back(contestant);
      if (auto set = set_knob(one.server, "transport", transport, Role::serve, catalogue); !set)
        return std::unexpected(set.error());
      if (transport != EngineChoice().transport) one.name += fmt::format(":transport={}", transport);
    }
  }
  scenario.contestants = std::move(contestants);
  return {};
}

}  // namespace joust::race
