// SPDX-License-Identifier: MIT
#include "cli/race/command.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "race/scenario/race_settings.hpp"

namespace joust {
namespace {

std::string race_examples(const Program& program) {
  const std::string file = program.has_scenarios() ? "first-look" : "my.toml";
  return fmt::format(R"(Examples:
  {0} race {2}
  {0} race {2} --quick --json first.json --html first.html
  {0} race --server threads,epoll,io-uring --client epoll -p {1} -c 4000 -d 1s --rounds 7
  {0} race --server epoll,epoll:trigger=level --client epoll -p {1} -m 1k --payload 4KiB
  {0} race --server epoll,io-uring -p {1} -c 100 -R 5k --time 30s
  {0} race --server epoll,io-uring -p {1} -c 100 --rates 30%,50%,70%,90%
  {0} race --server epoll,poll -p {1} --sweep connections=64,512,4096 --time 60s
  {0} race --command old='./old --port {{port}}' --command new='./new --port {{port}}' --fail-below 0.97
  {0} race --server epoll --client threads,epoll --reference epoll/threads --dry-run
  {0} race --hosts a,b,c --fabric eth1 --server epoll,io-uring -p {1} -c 1000

Every server meets every client, in fresh processes for each trial and in random order in every round.
Flags change what a scenario says. Exit codes: 0 ok, 1 interrupted, or no contestant can run here, 2 usage,
3 the measurement is invalid, or a contestant is not ranked, or nothing can be told (--allow-unranked),
99 a contestant is beyond a threshold (--fail-below, --fail-cost-above).)",
                     program.name, program.protocols.front().name, file);
}

}  // namespace

// Adds the flags of the race's own settings whose rows have this heading.
void Race::add_own_below(Command command, std::string_view heading) {
  for (const Setting& row : race::race_settings())
    if (row.heading == heading && !row.placed) own_flags.add_own(command, row, race::Scenario());
}

// Adds the flag of one whose place is in between.
void Race::add_own_placed(Command command, std::string_view key) {
  own_flags.add_own(command, row_of(race::race_settings(), key), race::Scenario());
}

void Race::add_contestants_to(Command command) {
  const auto group = "Contestants";
  const auto add_list = [&](const char* name, std::vector<std::string>& into, const char* type,
                            const char* help) {
    command.add_option(name, into, help).type_name(type).group(group);
  };
  add_list("--server", flags.servers, "E,E",
           "server engines; a knob is written epoll:trigger=level, a unix socket epoll:transport=unix");
  add_list(
      "--command", flags.commands, "NAME=COMMAND",
      "a server of your own: a shell command that listens on {port} of {address} (127.0.0.1; or on the "
      "port of the variable PORT) and speaks the protocol; may be repeated; comes before those of --server");
  add_text(command, "--ready", flags.ready,
           "a command is ready when it has printed a line with this text on its standard output [when it "
           "accepts a connection]",
           group, "TEXT");
  add_time(command, "--ready-timeout", flags.ready_timeout,
           "how long a server may take until it listens; then the contestant has failed [15s]", group,
           std::chrono::milliseconds(1));
  add_list("--client", flags.clients, "E,E", "client engines; each meets every server [epoll]");
  add_own_placed(command, "reference");
  add_number(command, "-t,--threads", flags.threads.server,
             "event loops or workers of servers; 0: a pool without workers [1]", group, UINT64_MAX, 0);
  add_text(command, "--client-threads", client_threads,
           "event loops of clients: N or auto, up to two cores for each loop of a server [auto]", group, "N");
  add_optional(command, "--wait", flags.wait,
               "how both sides wait when nothing is ready; adaptive: spin a while, then block [block]", group,
               [](Command options, const auto& names, auto& value, const auto& help) {
                 return options.add_option(names, value, help).one_of({"block", "spin", "adaptive"});
               });
  add_own_below(command, group);
}

void Race::add_load_to(Command command) {
  const auto group = "Load";
  add_text(command, "-p,--protocol", flags.protocol,
           fmt::format("the protocol that is spoken; see '{} protocols'; or the path of a plug-in, with a "
                       "'/' [{}]",
                       program.name, program.protocols.front().name),
           group, "PROTOCOL");
  load.add_load(command, race::standard_load(), true, group);
  add_text(command, "--rates", flags.rates,
           "one open loop for each: rates (1k,5k), or shares of what the slowest contestant answers in a "
           "closed loop, measured first (30%,50%,70%,90%)",
           group, "LIST");
  add_text(
      command, "--sweep", flags.sweep,
      "a case for each value of connections, payload, depth, threads or rate, all in the same rounds: "
      "connections=64,512 or 1..20, in steps 1..20+5, by a factor 1..4096x2; transport=tcp,unix doubles the "
      "engines instead",
      group, "AXIS=VALUES");
  add_own_below(command, group);
}

void Race::add_race_to(Command command) {
  const auto group = "Race";
  add_own_below(command, group);
  command
      .add_flag("--quick", flags.quick,
                "10 s for each case, or 3 rounds where trials are whole ones (unless --time, --rounds or "
                "--precision is given); disturbed rounds are not run again")
      .group(group);
  command
      .add_flag("--full", full,
                "the size that the scenario's table [full] says; --quick takes that of [quick]")
      .group(group);
  add_own_placed(command, "allow_unranked");
  command
      .add_option(
          "--progress", progress_as,
          "on standard error while it runs: live (one line that changes, on a terminal only), lines or "
          "json (one when a round begins, with the ratios so far), none [live]")
      .one_of({"live", "lines", "json", "none"})
      .group(group);
  command.add_flag("--details", details, "print all tables and all checks, not only what the answer needs")
      .group(group);
  command.add_flag("--dry-run", dry_run, "show commands and order, run nothing").group(group);
  json_option =
      command.add_option("--json", json, "write the result to this file; - prints it instead of the table")
          .type_name("FILE")
          .group(group);
  faces.add_to(command, group);
  command
      .add_flag("--no-history", no_history,
                fmt::format("do not add the result to the history; see '{} history'", program.name))
      .group(group);
}

namespace {

std::shared_ptr<Race> add_command(Command root, const Program& program, int& exit_code) {
  auto race = std::make_shared<Race>(program);
  Command command = root.add_command("race", "Race contestants side by side, and say what can be told");
  command
      .add_option("scenario", race->file,
                  program.has_scenarios()
                      ? fmt::format("a file that describes the race, or a name of '{} scenarios'; flags "
                                    "change what it says",
                                    program.name)
                      : "a file that describes the race; flags change what it says")
      .type_name("SCENARIO");
  race->add_contestants_to(command);
  race->add_load_to(command);
  race->add_race_to(command);
  race->add_own_below(command, "Thresholds");
  race->hosts.add_to(command);
  race->protocol.add_options_to(command, program);
  command.first_options({"--server",      "--command",        "--client", "--threads",   "--protocol",
                         "--connections", "--duration",       "--rate",   "--depth",     "--payload",
                         "--rates",       "--sweep",          "--time",   "--precision", "--quick",
                         "--details",     "--dry-run",        "--json",   "--html",      "--markdown",
                         "--fail-below",  "--fail-cost-above"});
  command.footer(race_examples(program));
  command.callback([race, &exit_code] { exit_code = race->run(); });
  return race;
}

}  // namespace

void add_race(Command root, const Program& program, int& exit_code) {
  add_command(root, program, exit_code);
}

int run_race(const Program& program, std::vector<std::string> words, LastWords last_words) {
  int exit_code = kOk;
  CommandLine line(program.name, "", "");
  add_command(line.program(), program, exit_code)->last_words = std::move(last_words);
  words.insert(words.begin(), {program.name, "race"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  line.run(static_cast<int>(words.size()), arguments.data());
  return exit_code;
}

}  // namespace joust
