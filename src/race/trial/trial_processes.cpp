// SPDX-License-Identifier: MIT
#include "race/trial/trial_processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <system_error>

#include "base/limits.hpp"
#include "base/units.hpp"

namespace joust::race {
namespace {

// The exit code with which `joust serve` and `joust load` refuse their arguments.
constexpr int kUsageExit = 2;

// The exit code of a shell that does not find the program, and of the dynamic linker.
constexpr int kNotFound = 127;

}  // namespace

using nlohmann::json;

SideFailure failure_of(const Part& part, std::string what) {
  SideFailure failure{.what = std::move(what)};
  if (!part.child) return failure;
  failure.last_words = part.child->last_words();
  failure.refused = !part.child->foreign() && part.child->exit_code() == kUsageExit;
  return failure;
}

SideFailure late_failure(const Part& part, const std::string& what, Duration patience,
                         const std::string& hint) {
  if (part.child->foreign() && part.child->exit_code() == kNotFound) {
    SideFailure failure = failure_of(
        part,
        fmt::format("the command, or a library that it needs, was not found (exit code {})", kNotFound));
    failure.not_found = true;
    return failure;
  }
  if (part.child->ended())
    return failure_of(
        part, fmt::format("{} ended before it could {}: {}", part.name, what, part.child->how_it_ended()));
  return failure_of(
      part, fmt::format("{} did not {} within {}{}", part.name, what, format_duration(patience), hint));
}

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

Step<> TrialProcesses::start(Part& part, const ChildCommand& command) const {
  const auto attach = [&](pid_t child) {
    if (!count_calls_) return;
    auto counter = SyscallCounter::attach(child);
    if (counter)
      part.calls = std::move(*counter);
    else
      part.no_calls = counter.error();
  };
  try {
    part.child = std::make_unique<Child>(command, attach);
    return {};
  } catch (const std::system_error& error) {
    return std::unexpected(failure_of(part, fmt::format("{} could not be started: {}{}", part.name,
                                                        error.what(), limit_behind(error.code().value()))));
  }
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
    if (!child->ended())
      for (const int number : {SIGCONT, SIGTERM}) child->send_all(number);
  const auto running = [](const Child* child) { return !child->ended(); };
  while (std::ranges::any_of(both, running) && !stop_.at_once() && Clock::now() < deadline)
    Child::wait_any(both, -1, deadline);
  for (Child* child : both)
    if (!child->ended()) child->send_all(SIGKILL);
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
