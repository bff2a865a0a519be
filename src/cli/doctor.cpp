// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "cli/doctor/show.hpp"
#include "doctor/facts.hpp"
#include "doctor/finding.hpp"
#include "doctor/floor.hpp"

namespace joust {
namespace {

// The moment in which others are watched: long enough for the kernel's clock, which ticks every 10 ms.
constexpr std::chrono::milliseconds kWatching{500};

// Throws where nothing could be looked at.
void ensure_something(std::span<const doctor::Finding> findings, std::span<const doctor::FloorFigure> floor) {
  const bool knows = std::ranges::any_of(
      findings, [](const auto& finding) { return finding.level != doctor::Level::unknown; });
  const bool measured = std::ranges::any_of(floor, [](const auto& figure) { return !!figure.spread; });
  if (!knows && !measured) throw std::runtime_error("nothing can be looked at: is /proc readable?");
}

void examine(bool as_json) {
  doctor::Facts facts = doctor::read_facts();
  doctor::watch_others(facts, kWatching);
  const auto before = read_machine_cpu();
  const std::vector<doctor::FloorFigure> floor = doctor::measure_floor(facts.cpus);
  if (const auto now = read_machine_cpu(); now && before) facts.use.measuring = *now - *before;
  const std::vector<doctor::Finding> findings = doctor::findings(facts);
  ensure_something(findings, floor);
  print_list(as_json ? doctor_json(facts.environment, findings, floor)
                     : for_people(doctor_text(findings, floor)));
}

}  // namespace

void add_doctor(Command root, const Program& program, int& /*exit_code*/) {
  Command command =
      root.add_command("doctor", "Say what distorts a race on this machine, and measure its floor");
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "as JSON (joust-doctor/1)");
  command.footer(fmt::format(R"(Examples:
  {0} doctor
  {0} doctor --json

Takes about two seconds, and changes nothing. Each finding has two lines: its effect on a race; the command
that mends it, and the one that undoes that. The floor is what a system call, a wake-up, a copy and a
stream take here, whatever the engine. The exit code is 0, whatever is found.)",
                             program.name));
  command.callback([json] { examine(*json); });
}

}  // namespace joust
