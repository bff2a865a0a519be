// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "base/document.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "race/scenario/own_scenarios.hpp"

namespace joust {
namespace {

void print_titles(const Program& program) {
  std::vector<std::vector<std::string>> rows{{"SCENARIO", "TITLE"}};
  for (const race::OwnScenario& own : race::own_scenarios()) rows.push_back({own.name, own.title});
  if (rows.size() == 1) throw std::runtime_error(race::why_no_scenarios());
  print_list(for_people(columns(rows) + fmt::format("\nRun one with '{} race NAME'.\n", program.name)));
}

}  // namespace

void add_scenarios(Command root, const Program& program, int& /*exit_code*/) {
  Command command = root.add_command("scenarios", "List the races that come with this program");
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "as JSON, with their files");
  command.footer(fmt::format("Examples:\n  {0} scenarios\n  {0} race first-look --quick", program.name));
  command.callback([json, &program] {
    *json ? print_list(to_document(race::own_scenarios()).dump(2) + '\n') : print_titles(program);
  });
}

}  // namespace joust
