// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/build_facts.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/utc.hpp"
#include "cli/common/output.hpp"
#include "cli/common/result_file.hpp"
#include "cli/common/signals.hpp"
#include "cli/hosts/processes.hpp"
#include "cli/race/command.hpp"
#include "cli/race/guardian.hpp"
#include "cli/race/possible_race.hpp"
#include "history/store.hpp"
#include "measure/affinity.hpp"
#include "measure/environment.hpp"
#include "measure/machine_cpu.hpp"
#include "measure/processes.hpp"
#include "net/stop.hpp"
#include "race/figures/summary.hpp"
#include "race/figures/wording.hpp"
#include "race/hosts/meeting.hpp"
#include "race/judgement/judge.hpp"
#include "race/judgement/thresholds.hpp"
#include "race/run/call_counts.hpp"
#include "race/run/plan.hpp"
#include "race/run/race.hpp"
#include "race/scenario/own_scenarios.hpp"
#include "race/scenario/race_settings.hpp"
#include "race/scenario/scenario_toml.hpp"
#include "race/set_up/placement.hpp"
#include "race/set_up/rates.hpp"
#include "race/trial/runner.hpp"
#include "race/trial/trial_runner.hpp"
#include "report/race_json.hpp"
#include "report/race_plan.hpp"
#include "report/race_progress.hpp"
#include "report/race_table.hpp"
#include "report/text.hpp"

namespace joust {
namespace {

// Makes a runner for the trials of a scenario, which outlives it.
using MakeRunner = std::function<std::unique_ptr<race::TrialRunner>(const race::Scenario&)>;

// Prepares a race whose rates are shares of a capacity: measures the capacities, sets the rates, subtracts
// the time of this measurement from the race's time, and plans again. Returns a child's message about invalid
// arguments; empty if it had none. Throws std::runtime_error where the capacity of a case cannot be measured.
std::string measure_capacities(race::Scenario& scenario, race::Plan& plan, const race::Catalogue& catalogue,
                               const MakeRunner& make_runner, race::RaceObserver& observer,
                               const Stop& stop) {
  const Time begun = Clock::now();
  const race::Scenario pilot = race::capacity_race(scenario);
  const race::RaceResult result = race::run_race(pilot, race::make_pilot(pilot, catalogue, plan.seed),
                                                 *make_runner(pilot), observer, stop);
  if (!result.refused.empty()) return result.refused;
  if (stop.requested()) throw std::runtime_error("interrupted before the capacity was known");
  race::set_rates(scenario, race::capacities_of(result));
  if (race::needs_capacity(scenario))
    throw std::runtime_error(
        "no contestant answered in the closed loop that measures the capacity, so the rates are not known");
  scenario.time -= std::min<Duration>(scenario.time, Clock::now() - begun);
  plan = race::make_plan(scenario, catalogue, plan.seed);
  return {};
}

static_assert(race::kBeyondThreshold == kThreshold);

constexpr const char* kCallsOverHosts = "not counted: the sides are on several hosts";

// Removes the program's name before a child's complaint, because this program's own complaint begins with it
// too.
std::string without_name(std::string words, const Program& program) {
  const std::string name = program.name + ": ";
  return words.starts_with(name) ? words.substr(name.size()) : words;
}

// Returns what would end the race with exit code 3 if its scenario had no allow_unranked = true; empty if
// nothing.
std::string accepted_by_scenario(race::RaceResult result) {
  if (!std::exchange(result.scenario.allow_unranked, false)) return {};
  return race::invalid_because(result);
}

std::uint64_t loops_in(const std::string& text) {
  const auto loops = parse_count(text);
  if (!loops || *loops < 1 || *loops > 1024)
    throw UsageError(fmt::format("--client-threads: '{}' is not between 1 and 1024, and not auto", text));
  return *loops;
}

// Returns the words that this program was started with; none where the system does not tell.
std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

report::ShownAs shown_as(const std::string& word) {
  if (word == "lines") return report::ShownAs::lines;
  if (word == "json") return report::ShownAs::json;
  return word == "none" ? report::ShownAs::none : report::ShownAs::live;
}

// Returns whether a race was interrupted in its first round. The loss of a host is a result.
bool measured_nothing(const race::RaceResult& result) {
  return !result.complete && result.rounds == 0 && result.lost_hosts.empty();
}

std::string text_of_file(const std::string& path) {
  if (path.empty()) return {};
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

race::Scenario Race::scenario(const race::Catalogue& catalogue) const {
  race::Scenario scenario = race::empty_scenario(catalogue);
  if (full && flags.quick) throw UsageError("--full and --quick exclude each other");
  if (full && file.empty()) throw UsageError("--full: only a scenario has a full size");
  if (!file.empty()) {
    const auto size = full ? race::Size::full : flags.quick ? race::Size::quick : race::Size::usual;
    auto read = race::read_scenario(file, catalogue, size);
    if (!read) throw UsageError(read.error());
    scenario = std::move(*read);
  } else if (flags.servers.empty() && flags.commands.empty()) {
    throw UsageError(
        fmt::format("there are no contestants; give a scenario, --server E,E,... --client E, or "
                    "--command NAME='SHELL COMMAND'; see '{} race --help'",
                    program.name));
  }
  if (const auto applied = race::apply(flags, scenario, catalogue); !applied)
    throw UsageError(applied.error());
  return scenario;
}

// Checks before the race that its result can be written.
void Race::ensure_files() const {
  if (keeps_result()) ensure_writable(json, {&file, 1});
  if (!dry_run) faces.ensure_writable(used_files());
}

// Writes the files of the result. Returns in words which of them could not be written; empty if none. A race
// that measured nothing leaves older files as they are.
std::string Race::keep(const race::RaceResult& result, const report::page::Document& document) const {
  if (!keeps_result() && !faces.any()) return {};
  if (measured_nothing(result)) {
    complain(program, "nothing was measured, so no file was written");
    return {};
  }
  std::vector<std::string> unwritten;
  if (keeps_result()) unwritten.push_back(keep_result(json, document.json));
  if (faces.any()) {
    FaceArguments::Written written = faces.write(document);
    note_strange_files(program, written.strange);
    unwritten.push_back(std::move(written.unwritten));
  }
  std::erase(unwritten, "");
  return join(unwritten, "; ");
}

// Adds the result to the history. A race does not fail because there is none: a line says so.
void Race::add_to_history(const race::RaceResult& result, const std::string& document) const {
  if (no_history || measured_nothing(result)) return;
  try {
    const auto store = history::open_store(history::default_path());
    store->add(document);
    if (!store->remark().empty()) complain(program, store->remark());
  } catch (const std::runtime_error& failed) {
    complain(program,
             fmt::format("the result is not in the history: {}; --no-history asks for none", failed.what()));
  }
}

void Race::show(const race::RaceResult& result, const report::page::Document& document) const {
  const std::vector<std::string> thresholds = race::threshold_sentences(result);
  if (json == "-") {
    print_result(document.json);
    for (const std::string& sentence : thresholds) complain(program, sentence);
    if (last_words) complain(program, last_words(result));
    return;
  }
  const report::Terminal terminal = report::terminal_of(STDOUT_FILENO);
  std::string shown = report::race_table(result, document, terminal, details);
  if (last_words) shown += "\n" + report::wrapped(last_words(result), 0, terminal.columns) + "\n";
  print_result(in_locale(shown));
}

std::unique_ptr<race::TrialRunner> Race::runner(const race::Scenario& scenario, const race::CpuPlan& cpus,
                                                const Stop& stop) const {
  race::ProcessSetup setup{.scenario = scenario, .cpus = cpus, .stop = stop, .first_words = {program.name}};
  if (meeting) return std::make_unique<race::HostsRunner>(std::move(setup), meeting->hosts);
  return std::make_unique<race::ProcessRunner>(std::move(setup));
}

int Race::race_and_report(race::Scenario scenario, race::Plan plan, const race::CpuPlan& cpus,
                          const race::Catalogue& catalogue) const {
  Stop own;
  Stop& stop = meeting ? stop_of_hosts() : own;
  // Until the end: a second Ctrl-C must not discard the result. The race itself runs no code of plug-ins.
  const Signals signals(stop, nullptr, Signals::Second::asks);
  const Duration time = scenario.time;
  if (race::wants_capacity(scenario)) {
    report::RaceProgress progress(shown_as(progress_as));
    const std::string refused = measure_capacities(
        scenario, plan, catalogue, [&](const race::Scenario& pilot) { return runner(pilot, cpus, stop); },
        progress, stop);
    if (!refused.empty()) throw UsageError(without_name(refused, program));
  }
  race::RaceResult result;
  const std::string started = utc_text(std::chrono::system_clock::now().time_since_epoch()),
                    text = text_of_file(scenario.file);  // the file may change meanwhile
  const Time begun = Clock::now();
  {
    report::RaceProgress progress(shown_as(progress_as));
    if (meeting) race::leave_out_calls(plan, kCallsOverHosts);  // it may be planned again
    const auto running = runner(scenario, cpus, stop);
    result = race::run_race(scenario, std::move(plan), *running, progress, stop);
    if (meeting) result.hosts = race::with_clocks(meeting->facts, static_cast<race::HostsRunner&>(*running));
  }
  result.scenario.time = time;
  result.started = started;
  result.took_s = std::chrono::duration<double>(Clock::now() - begun).count();
  result.command_line = own_command_line();
  result.scenario_text = text;
  if (!result.refused.empty()) throw UsageError(without_name(result.refused, program));
  result.version = build::kVersion;
  result.environment = read_environment();
  result.environment.items.push_back({"host", host_name(), false});
  result.environment.items.push_back({"softirq_time", softirq_time(counted_share_of_sending()), false});
  result.cpus = cpus;
  race::judge(result);
  report::document::Race made = report::document_of(result);
  const std::string text_of_result = report::race_json(made);
  const auto document = report::page::document_of(std::move(made), text_of_result);
  if (!document) {
    if (keeps_result()) keep_result(json, text_of_result);
    throw std::runtime_error("the result: " + document.error());
  }
  const std::string unwritten = keep(result, *document);  // first: standard output may be lost
  try {
    show(result, *document);
  } catch (const OutputError&) {
    add_to_history(result, document->json);
    throw;
  }
  add_to_history(result, document->json);  // last: it may have to wait
  if (!unwritten.empty()) {
    complain(program, unwritten);
    return kRunError;
  }
  const int code = race::exit_code(result);
  if (code == kInvalid)
    complain(program, fmt::format("exit code {}: {}", code, race::invalid_because(result)));
  if (code == kOk && !own_flags.has("allow_unranked"))
    if (const std::string reason = accepted_by_scenario(std::move(result)); !reason.empty())
      complain(program,
               fmt::format("{}; the exit code is 0 because {} has allow_unranked = true", reason, file));
  return code;
}

// Finds the file, which may be named like one of the scenarios that come with the program.
void Race::find_file() {
  if (file.empty() || !program.has_scenarios()) return;
  const std::string found = race::scenario_file(file);
  if (!found.empty()) {
    file = found;
  } else if (!file.contains('/')) {
    std::vector<std::string> names;
    for (const race::OwnScenario& own : race::own_scenarios()) names.push_back(own.name);
    throw UsageError(fmt::format(
        "{}: there is no such file, nor a scenario of that name; {}", file,
        names.empty() ? race::why_no_scenarios() : suggestion(file.substr(0, file.find(".toml")), names)));
  }
}

void Race::read_flags() {
  for (const auto& each : collect) each();
  flags.load = load.given;
  flags.own = own_flags.given;
  for (const Setting& row : race::race_settings()) {
    const bool is_fraction = row.kind == Setting::Kind::percent || row.kind == Setting::Kind::ratio;
    if (!is_fraction || !own_flags.has(row.key)) continue;
    if (const auto value = parse_setting(row, own_flags.given.at(std::string(row.key))); !value)
      throw UsageError(fmt::format("{}: {}", row.flag(), value.error()));
  }
  if (client_threads && *client_threads != "auto") flags.threads.client = loops_in(*client_threads);
  flags.options = {protocol.given.begin(), protocol.given.end()};
}

// Chooses event loops of clients, and the CPUs of both sides.
race::CpuPlan Race::place(race::Scenario& scenario, const race::Catalogue& catalogue) {
  if (meeting) {
    if (const auto problem = race::missing_cpus(*meeting, scenario.cpus)) throw UsageError(*problem);
    return race::place_sides(*meeting, scenario, catalogue);
  }
  if (const auto problem = race::check_cpus_exist(scenario.cpus, allowed_cpus())) throw UsageError(*problem);
  const std::vector<CpuPlace> places = read_topology(allowed_cpus());
  race::choose_client_threads(scenario, catalogue, places,
                              race::most_loops(scenario, &race::Contestant::server));
  return race::choose_cpus(scenario, places);
}

int Race::run() {
  if (const auto code = hosts.start(program)) return *code;
  read_flags();
  find_file();
  if (hosts.conducts(program)) {
    over = std::make_unique<HostsOfRace>(program, hosts);
    meeting = over->meet();
  }
  race::Catalogue catalogue = catalogue_of(program);
  if (meeting) race::restrict_to_hosts(catalogue);
  race::Scenario raced = scenario(catalogue);
  if (meeting)
    if (const std::string why =
            race::why_not_over_hosts(raced, meeting->hosts.loads.size(), meeting->hosts.server_loads());
        !why.empty())
      throw UsageError(why);
  raced.lost_host = hosts.when_lost();
  for (const std::string& remark : race::threads_remarks(flags.threads, raced, catalogue))
    complain(program, remark);
  const race::CpuPlan cpus = place(raced, catalogue);
  race::Plan plan = race::make_plan(raced, catalogue, raced.seed.value_or(std::random_device()()));
  plan.cpus = cpus;
  if (meeting) race::leave_out_calls(plan, kCallsOverHosts);
  ensure_possible(program, raced, plan);
  ensure_files();
  if (dry_run) {
    if (keeps_result()) complain(program, fmt::format("--json {}: a dry run writes no result", json));
    if (faces.any()) complain(program, "a dry run writes no page, pictures or tables");
    const std::string network = meeting ? race::network_sentence(meeting->facts) + "\n" : "";
    print_list(for_people(network + report::race_plan(raced, plan, cpus, program.name,
                                                      meeting ? meeting->hosts.server.address : "")));
    require_contestant(plan);
    return kOk;
  }
  if (const std::string reason = why_processes_have_no_figures(); !reason.empty())
    throw std::runtime_error("there are no races on this system: " + reason);
  require_contestant(plan);
  if (!meeting) require_loopback(plan);
  if (const auto code = guard()) {
    if (const int number = *code - kKilled; number > 0)
      complain(program, fmt::format("the race was killed (signal {}); all that it had started has been ended",
                                    number));
    return *code;
  }
  race::remove_left_folders();
  return race_and_report(raced, std::move(plan), cpus, catalogue);
}

}  // namespace joust
