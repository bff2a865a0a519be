// SPDX-License-Identifier: MIT
#include "report/race_plan.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/figures/wording.hpp"
#include "race/hosts/hosts_runner.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/set_up/placement.hpp"
#include "race/trial/orders.hpp"
#include "report/race_table.hpp"

namespace joust::report {
namespace {

std::string command_line(const std::string& program, race::Words words) {
  words.insert(words.begin(), program);
  return race::shell_text(words);
}

race::Words serve_words(const race::Scenario& scenario, const race::Case& one, race::Entry entry,
                        const race::CpuPlan& cpus, const std::string& address) {
  if (address.empty()) return race::serve_words(scenario, one, entry, cpus);
  entry.listen = race::listening_on(entry.listen, address);
  race::Words words = race::serve_words(scenario, one, entry, cpus);
  words.emplace_back("--public");
  return words;
}

// Returns both command lines of an entry. The address and the file are known only when the trial runs.
std::string entry_text(const race::Scenario& scenario, const race::Case& one, const race::Entry& entry,
                       const race::CpuPlan& cpus, const std::string& program, const std::string& address) {
  std::string text = fmt::format("  {}\n", entry.contestant.name);
  if (!entry.unavailable.empty()) return text + fmt::format("    {}\n", entry.unavailable);
  const race::CommandValues values{.address = address.empty() ? race::CommandValues().address : address,
                                   .port = "PORT",
                                   .from = "FROM",
                                   .into = "INTO",
                                   .last = "LAST",
                                   .bytes = "BYTES",
                                   .joust = program};
  const auto add_command = [&](const std::string& command) {
    text += fmt::format("    sh -c {}\n", race::shell_text({command}));
  };
  const race::Contestant& contestant = entry.contestant;
  if (!contestant.command.empty()) add_command(race::server_command(contestant.command, values));
  if (!contestant.transfer.empty()) add_command(race::filled(contestant.transfer, values));
  if (one.files) return text;
  if (!entry.contestant.external() && !entry.in_process)
    text += fmt::format("    {}\n", command_line(program, serve_words(scenario, one, entry, cpus, address)));
  return text + fmt::format("    {}\n", command_line(program, race::load_words(scenario, one, entry, cpus,
                                                                               "ADDRESS", "FILE")));
}

std::string cpu_text(const race::Scenario& scenario, const race::CpuPlan& cpus) {
  std::string text = fmt::format(
      "{} for servers (at most {}), {} for clients ({})\n", race::cpus_text(cpus.server),
      counted(most_loops(scenario, &race::Contestant::server), "loop"), race::cpus_text(cpus.client),
      counted(most_loops(scenario, &race::Contestant::client), "loop"));
  for (const std::string& remark : cpus.remarks) text += fmt::format("  {}\n", remark);
  return text + "\n";
}

}  // namespace

std::string race_plan(const race::Scenario& scenario, const race::Plan& plan, const race::CpuPlan& cpus,
                      const std::string& program, const std::string& address) {
  const char* const counting =
      plan.counts_calls ? "then one more trial of each contestant, untimed, to count system calls\n" : "";
  std::string text = cpu_text(scenario, cpus);
  for (const race::CaseResult& one : plan.cases) {
    text += fmt::format("{}{}\n", plan.cases.size() > 1 ? one.plan.name + ": " : "", load_text(one.plan));
    for (const race::Entry& entry : one.entries)
      if (entry.kind != race::EntryKind::again)
        text += entry_text(scenario, one.plan, entry, cpus, program, address);
    text += "\n";
  }
  if (plan.by_rule)
    return text +
           fmt::format(
               "rounds of turns, in random orders of seed {}, until every ratio is known to +- {:.3g} % "
               "or {} are over\n{}",
               plan.seed, scenario.precision * 100, format_duration(scenario.time), counting);
  text += fmt::format("{} in {}, in the order of seed {}:\n", counted(race::trials_in(plan), "trial"),
                      counted(plan.rounds, "round"), plan.seed);
  if (plan.by_time)
    text += fmt::format("no round is begun that would not end within {} (--time)\n",
                        format_duration(scenario.time));
  for (std::uint64_t round = 1; round <= plan.rounds; ++round) {
    std::string names;
    for (const race::Slot& slot : race::order_of_round(plan, round)) {
      const race::CaseResult& one = plan.cases[slot.case_index];
      names += names.empty() ? "" : ", ";
      const std::string of_case = plan.cases.size() > 1 ? one.plan.name + ": " : "";
      names += race::in_list(of_case + one.entries[slot.entry_index].contestant.name);
    }
    text += fmt::format("{:>4}  {}\n", round, wrapped(names, 6, Terminal{}.columns));
  }
  return text + counting;
}

}  // namespace joust::report
