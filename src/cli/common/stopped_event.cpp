// SPDX-License-Identifier: MIT
#include "cli/common/stopped_event.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "load/result_json.hpp"
#include "measure/usage.hpp"
#include "report/facts_json.hpp"

namespace joust {

nlohmann::ordered_json stopped_event(const Tally& tally, const Listeners& listeners,
                                     const std::vector<ResultGroup>& groups) {
  nlohmann::ordered_json errors = nlohmann::ordered_json::object();
  for (std::size_t stage = 0; stage < kStages; ++stage)
    if (const auto count = tally.failures(static_cast<Stage>(stage)))
      errors[std::string(stage_name(static_cast<Stage>(stage)))] = count;
  nlohmann::ordered_json event{
      {"event", "stopped"},
      {"connections",
       {{"accepted", tally.opened.load() + tally.unopened.load()}, {"failed", tally.failures()}}},
      {"bytes", {{"received", tally.received.load()}, {"sent", tally.sent.load()}}},
      {"errors", errors},
      {"messages_of_errors", tally.complaints()},
      {"usage", to_json(own_usage())},
      {"socket", to_json(listeners.facts())},
      {"notes", tally.notes()},
      {"missing", tally.missing()}};
  add_groups(event, groups);
  return event;
}

void complain_of_failures(const Program& program, const Tally& tally) {
  if (const auto failed = tally.failures(); failed > 0)
    complain(program, fmt::format("{} failed:\n  {}", counted(failed, "connection"),
                                  join(tally.complaints(), "\n  ")));
}

}  // namespace joust
