// SPDX-License-Identifier: MIT
#include "cli/race/race_capacity.hpp"

#include <algorithm>
#include <stdexcept>

#include "race/figures/capacity.hpp"
#include "race/run/race.hpp"
#include "race/set_up/rates.hpp"

namespace joust {

std::string measure_capacities(race::Scenario& scenario, race::Plan& plan, const race::Catalogue& catalogue,
                               const MakeRunner& make_runner, race::RaceObserver& observer,
                               const Stop& stop) {
  const Time begun = Clock::now();
  const race::Scenario pilot = race::capacity_race(scenario);
  const race::RaceResult result = race::run_race(pilot, race::make_pilot(pilot, catalogue, plan.seed),
                                                 *make_runner(pilot), observer, stop);
  if (!result.refused.empty()) return result.refused;
  if (stop.requested()) throw std::runtime_error("interrupted before the capacity was known");
  race::set_rates(scenario, race::capacities_of(result));
  if (race::needs_capacity(scenario))
    throw std::runtime_error(
        "no contestant answered in the closed loop that measures the capacity, so the rates are not known");
  scenario.time -= std::min<Duration>(scenario.time, Clock::now() - begun);
  plan = race::make_plan(scenario, catalogue, plan.seed);
  return {};
}

}  // namespace joust
