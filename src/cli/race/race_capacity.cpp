// SPDX-License-Identifier: MIT
#include "cli/race/race_capacity.hpp"

#include <algorithm>
#include <stdexcept>

#include "cli/race/catalogue.hpp"
#include "race/figures/capacity.hpp"
#include "race/run/race.hpp"
#include "race/set_up/rates.hpp"
#include "race/trial/trial_runner.hpp"

namespace joust {

std::string measure_capacities(const Program& program, race::Scenario& scenario, race::Plan& plan,
                               const race::CpuPlan& cpus, race::RaceObserver& observer, const Stop& stop) {
  const Time begun = Clock::now();
  const race::Catalogue catalogue = catalogue_of(program);
  const race::Scenario pilot = race::capacity_race(scenario);
  race::RaceResult result;
  {
    race::ProcessRunner runner(
        {.scenario = pilot, .cpus = cpus, .stop = stop, .first_words = {program.name}});
    result = race::run_race(pilot, race::make_pilot(pilot, catalogue, plan.seed), runner, observer, stop);
  }
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
