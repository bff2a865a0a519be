// SPDX-License-Identifier: MIT
#include "report/race_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/wording.hpp"
#include "race/judgement/thresholds.hpp"
#include "race/set_up/placement.hpp"
#include "race/set_up/rates.hpp"
#include "report/page/tables.hpp"
#include "report/race_comparisons.hpp"

namespace joust::report {
namespace {

using race::CaseResult;
using race::CheckResult;
using race::Entry;
using race::EntryKind;
using race::Verdict;

// The width below which the findings of checks stand below their titles.
constexpr std::size_t kNarrow = 100;

// Lists the notes of servers and clients, each once, with all the contestants that have it.
std::string notes_text(const CaseResult& one, const Terminal& terminal) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;
  const auto add = [&](const std::string& note, const std::string& who) {
    auto known = std::ranges::find(notes, note, [](const auto& each) { return each.first; });
    if (known == notes.end()) known = notes.insert(known, {note, {}});
    if (std::ranges::count(known->second, who) == 0) known->second.push_back(who);
  };
  for (const Entry& entry : one.entries)
    for (const race::Trial& trial : entry.trials) {
      if (entry.kind == EntryKind::ceiling) continue;
      const std::string name =
          race::in_list(entry.kind == EntryKind::again ? entry.repeats : entry.contestant.name);
      for (const std::string& note : trial.server.notes) add(note, name);
      if (!trial.load) continue;
      for (const std::string& note : trial.load->notes) add(note, "the client of " + name);
    }
  std::string text;
  for (const auto& [note, who] : notes)
    text += wrapped(fmt::format("  note: {} ({})", note, join(who)), 4, terminal.columns) + "\n";
  return text.empty() ? text : text + "\n";
}

std::string checks_text(const CaseResult& one, const Terminal& terminal) {
  std::string text;
  for (const CheckResult& check : one.checks) {
    const auto [word, paint] = check.verdict == Verdict::pass   ? std::pair("PASS", Paint::green)
                               : check.verdict == Verdict::warn ? std::pair("WARN", Paint::yellow)
                                                                : std::pair("REFUSE", Paint::red);
    constexpr std::size_t kIndent = 42;
    const std::string head = fmt::format("  {} {:>3}  ", painted(left(word, 6), paint, terminal), check.id);
    if (terminal.columns < kNarrow)
      text +=
          fmt::format("{}{}\n{:6}{}\n", head, check.title, "", wrapped(check.detail, 6, terminal.columns));
    else
      text += fmt::format("{}{} {}\n", head, left(check.title, kIndent - 15),
                          wrapped(check.detail, kIndent, terminal.columns));
  }
  return text;
}

// Returns the first failure of each contestant, where the table and the answer do not have it, and the last
// output of its children.
std::string failures_text(const CaseResult& one, const Terminal& terminal) {
  std::string text;
  for (const Entry& entry : one.entries) {
    const auto failed = std::ranges::find_if(
        entry.trials, [](const race::Trial& trial) { return !trial.failure.empty() && !trial.host_lost; });
    if (failed == entry.trials.end()) continue;
    const bool is_told = entry.reason.contains(failed->failure);
    if (is_told && failed->last_words.empty()) continue;
    const std::string what =
        is_told ? entry.contestant.name + ":" : fmt::format("{}: {}", entry.contestant.name, failed->failure);
    text += painted(wrapped("  " + what, 4, terminal.columns), Paint::red, terminal) + "\n";
    for (const std::string& line : failed->last_words)
      text += painted("    | " + line, Paint::dim, terminal) + "\n";
  }
  return text.empty() ? text : text + "\n";
}

bool is_of_machine(const race::Cause& cause) {
  return race::find_check(static_cast<std::uint64_t>(cause.checks.front()))->reason == race::Reason::machine;
}

// Returns the causes that limit the answer, each with its remedy and its checks. What the machine did comes
// before the answer, the others after it.
std::string causes_text(const CaseResult& one, bool of_machine, const Terminal& terminal) {
  std::string text;
  for (const race::Cause& cause : one.causes) {
    if (is_of_machine(cause) != of_machine) continue;
    std::vector<std::string> ids;
    for (const std::int64_t id : cause.checks) ids.push_back(std::to_string(id));
    const std::string line =
        fmt::format("{}. {}{}({} {})", cause.sentence, cause.remedy, cause.remedy.empty() ? "" : " ",
                    ids.size() == 1 ? "check" : "checks", join(ids));
    text += painted(wrapped(line, 2, terminal.columns), Paint::yellow, terminal) + "\n";
  }
  return text;
}

std::string answer_text(const CaseResult& one, const Terminal& terminal) {
  std::string text;
  for (const std::string_view sentence : split(one.verdict, '\n'))
    text += painted(wrapped(sentence, 2, terminal.columns), Paint::bold, terminal) + "\n";
  return text;
}

// Says what the CPU times contain. Loopback has no interrupts: whoever sends runs the network stack up to the
// receiver's socket, and wakes the receiver.
constexpr const char* kOnLoopback =
    "on loopback the sender of a message runs the network stack up to the receiver's socket, and wakes the "
    "receiver: the server's CPU time contains a part of the client's receiving, and the other way round";
constexpr const char* kOverHosts =
    "each host receives messages in interrupts, whose time is in a side's CPU time only where they interrupt "
    "it";

std::string note_of_costs(const race::RaceResult& race, const CaseResult& one) {
  const auto any = [all = race::contestants_of(one)](auto is_true) {
    return std::ranges::any_of(all, [&](const Entry* entry) { return is_true(*entry); });
  };
  std::string text = race.hosts.empty() ? kOnLoopback : kOverHosts;
  if (any([](const Entry& entry) { return entry.server_polls(); }))
    text += "; that of a server that polls is the time of its core, and has no place";
  if (any([](const Entry& entry) { return entry.summary.busy_us_per_message.has_value(); }))
    text += ". busy: time in which the CPUs of both sides were not idle, whoever used them, interrupts too";
  return text;
}

// Says of which trials the counts of calls are, and why some are missing. Empty if nobody has a result.
std::string remark_on_calls(const CaseResult& one) {
  std::vector<std::string> reasons;
  bool any = false;
  for (const Entry& entry : one.entries) {
    if (!entry.is_contestant() || entry.summary.trials == 0) continue;
    any |= entry.calls.reason.empty();
    if (!entry.calls.reason.empty() && std::ranges::count(reasons, entry.calls.reason) == 0)
      reasons.push_back(entry.calls.reason);
  }
  if (any) reasons.insert(reasons.begin(), "counted in one more trial of each contestant");
  return reasons.empty() ? "" : "system calls: " + join(reasons, "; ");
}

std::string details_text(const race::RaceResult& race, const CaseResult& one, const page::Case& shown,
                         const Terminal& terminal) {
  Table costs = page::terminal_costs_of(shown), resources = page::terminal_resources_of(shown);
  costs.notes = {note_of_costs(race, one)};
  if (std::string remark = remark_on_calls(one); !remark.empty()) resources.notes = {std::move(remark)};
  return terminal_text(page::terminal_results_of(shown), terminal) + "\n" + terminal_text(costs, terminal) +
         "\n" + terminal_text(resources, terminal) + "\n" + checks_text(one, terminal) + "\n";
}

std::string case_text(const race::RaceResult& race, const CaseResult& one, const page::Case& shown,
                      bool details, const Terminal& terminal) {
  std::string text;
  if (race.cases.size() > 1)
    text +=
        painted(one.plan.title.empty() ? one.plan.name : fmt::format("{}: {}", one.plan.name, one.plan.title),
                Paint::bold, terminal) +
        "\n" + painted(wrapped(load_text(one.plan), 2, terminal.columns), Paint::dim, terminal) + "\n\n";
  text += causes_text(one, true, terminal) + answer_text(one, terminal) + "\n";
  const bool anything = std::ranges::any_of(
      one.entries, [](const Entry& entry) { return entry.is_contestant() && entry.summary.trials > 0; });
  text += terminal_text(page::answer_of(shown), terminal) + "\n" + notes_text(one, terminal) +
          failures_text(one, terminal);
  if (anything && details) text += details_text(race, one, shown, terminal);
  return text + causes_text(one, false, terminal);
}

// Formats a rate, "5,000 messages/s", with the capacity if the rate is a share of it.
std::string rate_text(const race::Case& one) {
  const std::string share =
      one.rate_share ? race::rate_word({.share = one.rate_share}) + " of the capacity" : std::string();
  if (!one.load.open_loop()) return share;
  std::string text = fmt::format("{} messages/s", format_rate(one.load.rate_per_s));
  if (one.capacity)
    text += fmt::format(" ({}: the slowest in a closed loop was {} with {} messages/s)",
                        share.empty() ? fmt::format("{:.3g}% of the capacity",
                                                    100 * one.load.rate_per_s / one.capacity->per_s)
                                      : share,
                        one.capacity->contestant, format_count(one.capacity->per_s));
  return text;
}

void add_schedule(const race::Case& one, std::vector<std::string>& parts) {
  const LoadPlan& load = one.load;
  if (load.interval.count() > 0)
    parts.push_back(fmt::format("a message every {} on each", format_duration(load.interval)));
  const bool is_poisson = one.load_at_some_rate().has_poisson_arrivals();
  if (one.open_loop())
    parts.insert(parts.end(), {"open loop", rate_text(one),
                               is_poisson ? "Poisson arrivals" : "constant arrivals, kinder than users are"});
  if (load.phase == LoadPlan::Phase::together) parts.emplace_back("all at the same instants");
  if (one.open_loop() ? load.depth > 1 : load.interval.count() == 0)
    parts.push_back(load.depth == 1 ? "closed loop"
                                    : fmt::format("{} requests outstanding on each", load.depth));
  if (load.messages_per_connection)
    parts.push_back(
        fmt::format("a new connection after {}", counted(*load.messages_per_connection, "message")));
  if (load.reconnects()) parts.emplace_back("lost connections come back");
}

// Formats the number of loops: ", 2 loops". Empty where each side has one.
std::string loops_text(const race::RaceResult& race, EngineChoice race::Contestant::*side) {
  std::uint64_t least = 1024, most = 1;
  for (const race::Contestant& contestant : race.scenario.contestants) {
    const std::uint64_t loops =
        contestant.external() && side == &race::Contestant::server ? 1 : (contestant.*side).threads;
    least = std::min(least, loops);
    most = std::max(most, loops);
  }
  if (most == 1) return {};
  return ", " + (least < most ? fmt::format("{} to ", least) : "") + counted(most, "loop");
}

// Formats the length of the trials: "400 ms in turns of 1 transfer on each in each round". The number of
// transfers is not known before the first round.
std::string length_text(const race::Case& one) {
  const LoadPlan& load = one.load;
  if (!load.turns)
    return load.messages ? counted(*load.messages, "message") + " on each"
                         : format_duration(load.duration) + " a trial" +
                               (one.is_near_capacity() ? ", without turns near the capacity" : "");
  const char* const unit = one.turn.unit == race::TurnUnit::transfers ? "transfer" : "message";
  std::string turns = "turns";
  if (load.counted_turns)
    turns += one.turn.count > 0 ? fmt::format(" of {} on each", counted(one.turn.count, unit))
                                : fmt::format(" of {}s", unit);
  return fmt::format("{} in {} in each round", format_duration(load.duration), turns);
}

// Formats how the race was run: "10 rounds, seed 4711, server on CPU 0, client on CPU 1".
std::string how_text(const race::RaceResult& race) {
  std::string how = fmt::format("{}, seed {}", counted(race.rounds, "round"), race.seed);
  if (!race.cpus.server.empty())
    how += fmt::format(", server on {}{}, client on {}{}", race::cpus_text(race.cpus.server),
                       loops_text(race, &race::Contestant::server), race::cpus_text(race.cpus.client),
                       loops_text(race, &race::Contestant::client));
  return how;
}

}  // namespace

std::string load_text(const race::Case& one) {
  if (one.files)
    return race::files_text(*one.files) + ", moved by whole commands, each timed from its start to its end";
  const LoadPlan& load = one.load;
  std::vector<std::string> parts{one.protocol, counted(load.connections, "connection")};
  if (one.server_threads) parts.push_back(counted(*one.server_threads, "loop") + " of a server");
  add_schedule(one, parts);
  if (load.payload) parts.push_back(format_size(*load.payload) + " payload");
  parts.push_back(length_text(one));
  parts.push_back(fmt::format("warm-up {}", format_duration(load.warmup)));
  return join(parts);
}

std::string race_table(const race::RaceResult& race, const page::Document& document, const Terminal& terminal,
                       bool details) {
  std::string text;
  if (!race.scenario.title.empty())
    text += painted(wrapped(race.scenario.title, 0, terminal.columns), Paint::bold, terminal) + "\n";
  const std::string load = race.cases.size() == 1 ? load_text(race.cases.front().plan) + "; " : "";
  text += painted(wrapped(load + how_text(race), 2, terminal.columns), Paint::dim, terminal) + "\n";
  if (!race.complete)
    text +=
        painted(wrapped("INCOMPLETE: " + race.incomplete, 0, terminal.columns), Paint::red, terminal) + "\n";
  for (const std::string& sentence : race::threshold_sentences(race))
    text += painted(wrapped(sentence, 2, terminal.columns), Paint::bold, terminal) + "\n";
  const std::set<const CaseResult*> folded = folded_cases(race);
  for (std::size_t i = 0; i < race.cases.size(); ++i)
    if (!folded.contains(&race.cases[i]))
      text += "\n" + case_text(race, race.cases[i], document.cases[i], details, terminal);
  for (const CaseResult& one : race.cases) text += matrix_text(one, terminal);
  text += sweeps_text(race, terminal);
  const std::string network = race::network_sentence(race.hosts);
  const std::string more = details ? "" : " All figures and checks: --details, or a page (--html FILE).";
  return text + painted(wrapped(network + more, 0, terminal.columns), Paint::dim, terminal) + "\n";
}

}  // namespace joust::report
