// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "cli/advise/chosen_race.hpp"
#include "cli/advise/question.hpp"
#include "cli/common/arguments.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "cli/common/run_race.hpp"
#include "measure/affinity.hpp"
#include "race/judgement/advice.hpp"
#include "race/scenario/shell_command.hpp"

namespace joust {
namespace {

using advise::Part;
using advise::Question;

// Options that are passed on to the race.
struct PassedOn {
  const char* flag;
  const char* type;
  const char* help;
  bool is_report = false;
};
constexpr PassedOn kPassedOn[] = {
    {"--json", "FILE", "write the result of the race to this file; - prints it instead of the table", true},
    {"--html", "FILE", "write the result as a page: pictures, tables, checks", true},
    {"--progress", "WORD", "how the race reports while it runs: live, lines, json or none [live]"},
};

struct Advise {
  const Program& program;
  Question question{};
  std::vector<Option> given{};  // of the parts of the question
  std::vector<std::string> passed_on{};
  std::string files{};  // where the report is
  bool dry_run = false;

  void add_to(Command command);
  int run();
  std::string answer(const race::RaceResult& result) const;
};

void Advise::add_to(Command command) {
  const auto group = "The traffic";
  for (const Part& part : advise::parts()) {
    const bool is_flag = *part.type == '\0';
    const auto take = [this, &part](const std::string& text) { return part.take(question, text); };
    Option option =
        is_flag ? command.add_flag(
                      part.flag, [this, &part] { part.take(question, "yes"); }, part.help)
                : command.add_option(part.flag, take, fmt::format("{} [{}]", part.help, part.standard))
                      .type_name(part.type);
    given.push_back(option.group(group));
  }
  const auto race = "The race";
  add_duration(command, "--time", question.time, "how long is raced [60s]", std::chrono::seconds(1))
      .group(race);
  for (const PassedOn& one : kPassedOn) {
    const auto take = [this, &one](const std::string& text) -> std::string {
      passed_on.insert(passed_on.end(), {one.flag, text});
      if (one.is_report && text != "-") files += fmt::format("{}{}", files.empty() ? "" : " and ", text);
      return {};
    };
    command.add_option(one.flag, take, one.help).type_name(one.type).group(race);
  }
  command.add_flag("--dry-run", dry_run, "show the command of the race, run nothing").group(race);
}

std::string Advise::answer(const race::RaceResult& result) const {
  const std::string where = files.empty() ? "--html FILE and --json FILE keep the report"
                                          : fmt::format("The report is in {}", files);
  return fmt::format("Advice: {}. {}.", race::advice_of(result, result.cases.front()), where);
}

int Advise::run() {
  if (std::ranges::none_of(given, &Option::given)) {
    if (::isatty(STDIN_FILENO) == 0) {
      std::vector<std::string> flags;
      for (const Part& part : advise::parts()) flags.emplace_back(part.flag);
      throw UsageError(fmt::format(
          "there is no terminal to ask on; say what the traffic is like: {}; see '{} advise --help'",
          join(flags), program.name));
    }
    const Duration time = question.time;
    question = advise::ask();
    question.time = time;
  }
  const std::size_t cores = std::max<std::size_t>(1, allowed_cpus().size());
  advise::ChosenRace chosen = advise::race_for(question, program, cores);
  for (const std::string& remark : chosen.remarks) complain(program, remark);
  chosen.words.insert(chosen.words.end(), passed_on.begin(), passed_on.end());
  const std::string command = fmt::format("{} race {}", program.name, race::shell_text(chosen.words));
  if (dry_run) {
    print_list(for_people(command + "\n"));
    return kOk;
  }
  print_to_stderr(fmt::format("This answers, and can be repeated:\n  {}\n\n", command));
  return run_race(program, std::move(chosen.words),
                  [this](const race::RaceResult& result) { return answer(result); });
}

}  // namespace

void add_advise(Command root, const Program& program, int& exit_code) {
  auto advise = std::make_shared<Advise>(program);
  Command command = root.add_command("advise", "Say which engine suits your traffic, by a race of a minute");
  advise->add_to(command);
  command.footer(fmt::format(R"(Examples:
  {0} advise
  {0} advise --connections 2000 --payload 200
  {0} advise --connections 10k --idle 95% --html idle.html
  {0} advise --connections 64 --work 1ms --time 2m
  {0} advise --connections 64 --datagrams --dry-run

Without an option it asks, on a terminal. It chooses engines and a load, shows the command of the race, runs
it, and answers in a sentence with intervals: by throughput, or with --idle by latency, or else by the CPU
time of the server for a message. Where the race does not tell, it says so. Exit codes are those of
'{0} race'.)",
                             program.name));
  command.callback([advise, &exit_code] { exit_code = advise->run(); });
}

}  // namespace joust
