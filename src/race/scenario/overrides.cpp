// SPDX-License-Identifier: MIT
#include "race/scenario/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "race/model/scenario.hpp"
#include "race/scenario/engine_choice.hpp"
#include "race/scenario/race_settings.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/set_up/rates.hpp"
#include "race/set_up/sweep.hpp"
#include "race/set_up/validity.hpp"

namespace joust::race {
namespace {

constexpr const char* kForm = "write NAME=COMMAND, such as --command old='./server --port {port}'";
constexpr std::string_view kSpaces = " \t\n";

// Without its name, a command that has an equals sign reads like NAME=COMMAND: "./server --port={port}". So a
// name here has no characters that are usual in the beginning of a command.
std::optional<std::string> objection_to_name(const std::string& name, const std::vector<Contestant>& others) {
  if (name.empty()) return fmt::format("there is no name before the equals sign; {}", kForm);
  if (name.find_first_of(" \t\n/{}$'\"") != std::string::npos)
    return fmt::format(
        "the name before the equals sign is '{}', and a name has no spaces, slashes, braces or "
        "quotes here; {}",
        printable(name), kForm);
  if (const auto problem = check_name(name)) return fmt::format("the name: {}", *problem);
  if (std::ranges::find(others, name, &Contestant::name) != others.end())
    return fmt::format("another contestant is called '{}'; give each a name of its own", name);
  return std::nullopt;
}

std::optional<std::string> objection_to_command(const std::string& command) {
  if (command.find_first_not_of(kSpaces) == std::string::npos)
    return fmt::format("there is no command after the equals sign; {}", kForm);
  if (command.contains("{here}"))
    return "{here} is the folder of a scenario's file; write the path from the current directory";
  if (const std::string meant = misspelt_name(command); !meant.empty())
    return fmt::format("a place in braces is not filled in; did you mean {}?", meant);
  return std::nullopt;
}

// Reads contestants of --command, each as NAME=SHELL COMMAND. They get the standard client. The error has the
// text that is wrong, what is wrong with it, and what is allowed.
std::expected<std::vector<Contestant>, std::string> parse_commands(const std::vector<std::string>& texts,
                                                                   const Catalogue& catalogue) {
  std::vector<Contestant> contestants;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const auto wrong = [&](const std::string& what) {
      return std::unexpected(fmt::format("--command '{}': {}", printable(text, "\n"), what));
    };
    if (equals == std::string::npos) return wrong(fmt::format("there is no equals sign; {}", kForm));
    Contestant contestant{.name = text.substr(0, equals),
                          .server = {},
                          .command = text.substr(equals + 1),
                          .needs = {},
                          .client = {.engine = catalogue.standard_client({})}};
    if (const auto problem = objection_to_name(contestant.name, contestants)) return wrong(*problem);
    if (const auto problem = objection_to_command(contestant.command)) return wrong(*problem);
    contestants.push_back(std::move(contestant));
  }
  return contestants;
}

template <typename T>
void replace(T& what, const std::optional<T>& by) {
  if (by) what = *by;
}

std::expected<std::vector<EngineChoice>, std::string> parse_all(const std::vector<std::string>& lists,
                                                                Role role, const Catalogue& catalogue) {
  const auto wrong = [role](const std::string& what) {
    return std::unexpected(fmt::format("{}: {}", role == Role::serve ? "--server" : "--client", what));
  };
  std::vector<EngineChoice> choices;
  for (const std::string& list : lists)
    for (const std::string_view text : split(list, ',')) {
      if (text.empty()) return wrong("a name in the list is empty (write it like threads,epoll)");
      auto choice = parse_engine(text, role, catalogue);
      if (!choice) return wrong(choice.error());
      choices.push_back(std::move(*choice));
    }
  return choices;
}

std::expected<void, std::string> replace_contestants(const Overrides& given, Scenario& scenario,
                                                     const Catalogue& catalogue) {
  const auto servers = parse_all(given.servers, Role::serve, catalogue);
  if (!servers) return std::unexpected(servers.error());
  const auto clients = parse_all(given.clients, Role::dial, catalogue);
  if (!clients) return std::unexpected(clients.error());
  auto contestants = parse_commands(given.commands, catalogue);
  if (!contestants) return std::unexpected(contestants.error());
  std::ranges::move(every_server(*servers, catalogue), std::back_inserter(*contestants));
  if (contestants->size() * std::max<std::size_t>(clients->size(), 1) > kMostEntries)
    return std::unexpected("--server: " + too_many_pairs(contestants->size(), clients->size()));
  if (!contestants->empty()) {
    scenario.contestants =
        given.clients.empty() ? std::move(*contestants) : with_clients(*contestants, *clients);
    return {};
  }
  if (!given.clients.empty() && clients->size() > 1)
    return std::unexpected("--client: several clients need --server or --command to be paired with");
  if (!given.clients.empty())
    for (Contestant& contestant : scenario.contestants) contestant.client = clients->front();
  return {};
}

// Returns the transports of a sweep such as "transport=tcp,unix"; nothing if it is another sweep.
std::optional<std::vector<std::string>> swept_transports(const std::string& sweep) {
  constexpr std::string_view kAxis = "transport=";
  if (!sweep.starts_with(kAxis)) return std::nullopt;
  std::vector<std::string> transports;
  for (const std::string_view each : split(std::string_view(sweep).substr(kAxis.size()), ','))
    transports.emplace_back(each);
  return transports;
}

std::expected<void, std::string> replace_load(const Overrides& given, Scenario& scenario) {
  std::vector<Rate> rates;
  if (given.rates) {
    auto parsed = parse_rates(split(*given.rates, ','));
    if (!parsed) return std::unexpected("--rates: " + parsed.error());
    rates = std::move(*parsed);
  }
  for (Case& one : scenario.cases) replace(given.load, rates, one);
  return {};
}

// Returns the flag that gives this number of the load; empty if no flag does.
std::string flag_for(const std::string& axis, const Overrides& given) {
  if (axis == "threads") return given.threads.server ? "--threads" : "";
  if (axis == "rate" && given.rates) return "--rates";
  if (axis == "rate" && given.load.contains("interval")) return "--interval";
  return given.load.contains(axis) ? load_setting(axis).flag() : "";
}

// Returns the first flag that changes a load, a protocol or engines; empty if none is given.
std::string flag_of_load(const Overrides& given) {
  if (!given.servers.empty()) return "--server";
  if (!given.commands.empty()) return "--command";
  if (!given.clients.empty()) return "--client";
  if (given.protocol) return "--protocol";
  if (!given.options.empty()) return "--" + given.options.begin()->first;
  if (!given.load.empty()) return load_setting(given.load.begin()->first).flag();
  if (given.rates) return "--rates";
  if (given.sweep) return "--sweep";
  if (given.threads.server) return "--threads";
  return given.threads.client ? "--client-threads" : "";
}

// Removes the sweep of a file over a number that a flag gives.
std::expected<void, std::string> replace_sweeps(const Overrides& given, Scenario& scenario,
                                                const Catalogue& catalogue) {
  std::optional<Sweep> sweep;
  if (given.sweep && !swept_transports(*given.sweep)) {
    const auto parsed = parse_sweep(*given.sweep);
    if (!parsed) return std::unexpected("--sweep: " + parsed.error());
    if (const std::string flag = flag_for(parsed->axis, given); !flag.empty())
      return std::unexpected(
          fmt::format("--sweep {} and {} exclude each other; allowed: one of them", parsed->axis, flag));
    sweep = *parsed;
  }
  for (Case& one : scenario.cases) {
    if (sweep && sweep->axis == "rate")
      replace({{"rate", fmt::format("{}", sweep->values.front())}}, {}, one);
    if (sweep) one.sweep = sweep;
    if (one.sweep && !flag_for(one.sweep->axis, given).empty()) one.sweep.reset();
    if (const auto problem = check_sweep(one, catalogue))
      return std::unexpected((sweep ? "--sweep: " : "") + *problem);
  }
  return {};
}

// Returns why a load is not possible that the flags have changed.
std::optional<std::string> objection_to_load(const Overrides& given, const Scenario& scenario) {
  if (given.load.empty()) return std::nullopt;
  for (const Case& one : scenario.cases)
    if (auto problem = one.files ? std::nullopt : check_load(one, GivenIn::flags)) return problem;
  return std::nullopt;
}

// Returns why no contestant can have this text of --ready.
std::optional<std::string> objection_to_ready(const Overrides& given, const Scenario& scenario) {
  if (!given.ready) return std::nullopt;
  if (given.ready->empty()) return "--ready: it is empty; allowed: a part of a line that a command prints";
  const auto has_command = [](const Contestant& contestant) { return !contestant.command.empty(); };
  if (std::ranges::any_of(scenario.contestants, has_command)) return std::nullopt;
  return "--ready: no contestant is a command, and joust's own servers report when they listen; leave it out";
}

// Returns why the thresholds that were given mean nothing.
std::optional<std::string> objection_to_thresholds(const Overrides& given, const Scenario& scenario) {
  const bool below = given.own.contains("fail_below");
  if (!below && !given.own.contains("fail_cost_above")) {
    if (!given.own.contains("undecided")) return std::nullopt;
    return "--undecided: there is no threshold; allowed: with --fail-below or --fail-cost-above";
  }
  const char* const flag = below ? "--fail-below" : "--fail-cost-above";
  if (scenario.contestants.size() < 2)
    return fmt::format("{}: there is one contestant, and none to compare it with; allowed: with two", flag);
  if (below && std::ranges::all_of(scenario.cases, &Case::open_loop))
    return "--fail-below: at a given rate throughput does not compare servers; allowed: --fail-cost-above, "
           "or a "
           "load without a rate";
  return std::nullopt;
}

void apply_to(Contestant& contestant, const Overrides& given) {
  if (!contestant.command.empty()) replace(contestant.ready, given.ready);
  if (given.ready_timeout) contestant.ready_timeout = given.ready_timeout;
  replace(contestant.server.threads, given.threads.server);
  replace(contestant.client.threads, given.threads.client);
  contestant.client.threads_given |= given.threads.client.has_value();
  replace(contestant.server.wait, given.wait);
  replace(contestant.client.wait, given.wait);
}

// Sets the race's own settings that are given. Returns what is wrong with the first that is wrong.
std::optional<std::string> set_own(const Overrides& given, Scenario& scenario) {
  std::optional<std::string> wrong;
  for (const Setting& row : race_settings()) {
    const auto text = given.own.find(row.key);
    if (text == given.own.end()) continue;
    if (const auto value = parse_setting(row, text->second))
      row.set(scenario, *value);
    else if (!wrong)
      wrong = fmt::format("{}: {}", row.flag(), value.error());
  }
  return wrong;
}

// Returns why there are no turns of the length that was given.
std::optional<std::string> objection_to_turn(const Overrides& given, const Scenario& scenario) {
  if (!given.own.contains("turn")) return std::nullopt;
  if (!scenario.turns)
    return fmt::format(
        "--turn: the contestants take no turns, because of {}; leave one of them out",
        given.own.contains("turns") ? "--turns off" : fmt::format("turns = false in {}", scenario.file));
  const auto counted = [](const Case& one) { return one.load.messages.has_value(); };
  if (std::ranges::all_of(scenario.cases, counted))
    return "--turn: a turn is the number of messages that is given; allowed: --turn with a duration (-d) in "
           "place of messages (-m)";
  return std::nullopt;
}

// Sets how long the race lasts, where no setting of its own says it. Returns what is wrong with these.
std::optional<std::string> set_length(const Overrides& given, Scenario& scenario) {
  const bool rounds = given.own.contains("rounds"), time = given.own.contains("time"),
             precision = given.own.contains("precision");
  if (time && rounds)
    return "--time: so many rounds (--rounds) take the time that they need; leave one of the two out";
  if (given.quick) {
    scenario.quick = true;
    if (!rounds) scenario.rounds = std::min(scenario.rounds, kQuickRounds);
    scenario.few_rounds = !time && !precision;
    if (!time && !precision)
      scenario.time = std::min(scenario.time, kQuickTime * static_cast<std::int64_t>(scenario.cases.size()));
  }
  if ((time || precision) && !rounds) scenario.rounds = 0;
  return std::nullopt;
}

}  // namespace

Scenario empty_scenario(const Catalogue& catalogue) {
  Scenario scenario;
  Case one;
  one.protocol = catalogue.protocols.front().name;
  scenario.cases.push_back(std::move(one));
  return scenario;
}

std::expected<void, std::string> apply(const Overrides& given, Scenario& scenario,
                                       const Catalogue& catalogue) {
  if (const auto conflict = conflict_in(given.load, GivenIn::flags)) return std::unexpected(conflict->text);
  if (given.rates && (given.load.contains("rate") || given.load.contains("interval")))
    return std::unexpected("--rates excludes --rate and --interval; allowed: one of them");
  const auto moves = [](const Case& one) { return one.files.has_value(); };
  if (const std::string flag = flag_of_load(given);
      !flag.empty() && std::ranges::any_of(scenario.cases, moves))
    return std::unexpected(fmt::format(
        "{}: the contestants of {} move files by commands of their own; leave it out", flag, scenario.file));
  if (auto replaced = replace_load(given, scenario); !replaced) return replaced;
  if (auto replaced = replace_contestants(given, scenario, catalogue); !replaced) return replaced;
  if (const auto transports = given.sweep ? swept_transports(*given.sweep) : std::nullopt)
    if (auto swept = sweep_transports(*transports, scenario, catalogue); !swept)
      return std::unexpected("--sweep: " + swept.error());
  for (Case& one : scenario.cases) {
    if (given.protocol)
      if (const auto problem = set_protocol(one, *given.protocol, catalogue, ""))
        return std::unexpected(*problem);
    for (const auto& [name, value] : given.options) one.options[name] = value;
  }
  const std::string where = scenario.file.empty() ? "" : scenario.file + ": ";
  if (auto replaced = replace_sweeps(given, scenario, catalogue); !replaced)
    return std::unexpected(given.sweep ? replaced.error() : where + replaced.error());
  if (auto problem = check_threads(given.threads, scenario, catalogue)) return std::unexpected(*problem);
  if (auto problem = objection_to_ready(given, scenario)) return std::unexpected(*problem);
  for (Contestant& contestant : scenario.contestants) apply_to(contestant, given);
  expand_sweeps(scenario);
  const auto wrong_own = set_own(given, scenario);
  scenario.allow_nothing |= given.own.contains("allow_unranked");
  if (auto problem = objection_to_turn(given, scenario)) return std::unexpected(*problem);
  if (given.own.contains("reference") && !scenario.contestants.empty())
    if (const auto problem = check_reference(scenario)) return std::unexpected("--" + *problem);
  if (auto problem = objection_to_thresholds(given, scenario)) return std::unexpected(*problem);
  if (wrong_own) return std::unexpected(*wrong_own);
  if (const auto problem = objection_to_load(given, scenario)) return std::unexpected(*problem);
  if (const auto problem = complete(scenario, catalogue)) return std::unexpected(where + *problem);
  expand_rates(scenario);
  if (auto problem = set_length(given, scenario)) return std::unexpected(*problem);
  return {};
}

}  // namespace joust::race
