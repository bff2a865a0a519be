// SPDX-License-Identifier: MIT
#include "race/trial/trial_processes.hpp"

#include <algorithm>
#include <csignal>

namespace joust::race {

using nlohmann::json;

std::string event_name(const json& said) {
  if (!said.is_object()) return {};
  const auto event = said.find("event");
  return event != said.end() && event->is_string() ? event->get<std::string>() : std::string();
}

std::vector<Child*> TrialProcesses::children() const {
  std::vector<Child*> both;
  for (const Part* part : {&server, &load})
    if (part->child) both.push_back(part->child.get());
  return both;
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
  const std::vector<Child*> both = children();
  while (!done()) {
    if (stop_.requested() || Clock::now() >= deadline) return false;
    Child::wait_any(both, stop_.fd(), deadline);
  }
  return true;
}

void TrialProcesses::end(Duration patience) const {
  const std::vector<Child*> both = children();
  const Time deadline = Clock::now() + patience;
  for (Child* child : both)
    if (!child->ended()) child->send_all(SIGTERM);
  const auto running = [](const Child* child) { return !child->ended(); };
  while (std::ranges::any_of(both, running) && !stop_.at_once() && Clock::now() < deadline)
    Child::wait_any(both, -1, deadline);
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
