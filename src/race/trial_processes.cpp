// SPDX-License-Identifier: MIT
#include "race/trial_processes.hpp"

#include <vector>

namespace joust::race {

using nlohmann::json;

std::string event_name(const json& said) {
  if (!said.is_object()) return {};
  const auto event = said.find("event");
  return event != said.end() && event->is_string() ? event->get<std::string>() : std::string();
}

void TrialProcesses::start(Part& part, const ChildCommand& command) const {
  const auto attach = [&](pid_t child) {
    if (!count_calls_) return;
    auto counter = SyscallCounter::attach(child);
    if (counter)
      part.calls = std::move(*counter);
    else
      part.no_calls = counter.error();
  };
  part.child = std::make_unique<Child>(command, attach);
}

bool TrialProcesses::wait_until(Time deadline, const std::function<bool()>& done) const {
  std::vector<Child*> children;
  for (const Part* part : {&server, &load})
    if (part->child) children.push_back(part->child.get());
  while (!done()) {
    if (stop_.requested() || Clock::now() >= deadline) return false;
    Child::wait_any(children, stop_.fd(), deadline);
  }
  return true;
}

std::optional<json> TrialProcesses::next_event(Part& part, std::string_view name, Duration patience) const {
  std::optional<json> event;
  wait_until(Clock::now() + patience, [&] {
    while (!event) {
      const auto line = part.child->take_line();
      if (!line) break;
      json said = json::parse(*line, nullptr, false);
      if (event_name(said) == name) event = std::move(said);
    }
    return event || part.child->ended();
  });
  return event;
}

}  // namespace joust::race
