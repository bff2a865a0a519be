// SPDX-License-Identifier: MIT
#include "race/run/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "race/model/result.hpp"
#include "race/run/generation_run.hpp"
#include "race/scenario/engine_choice.hpp"
#include "stats/random.hpp"

namespace joust::race {
namespace {

enum class Side : std::uint8_t { server, client };

// Looks only at knobs that were given: by default no engine has such threads.
bool has_kernel_threads(const EngineChoice& choice, const Catalogue& catalogue) {
  const Engine* const engine = catalogue.engine(choice.engine);
  const auto makes_one = [&](const Knob& knob) {
    const auto given = choice.knobs.find(knob.name);
    return given != choice.knobs.end() && !given->second.empty() && given->second == knob.kernel_thread;
  };
  return engine != nullptr && std::ranges::any_of(engine->knobs, makes_one);
}

// Returns the bytes of other cases of the race in the same place whose files fit.
std::uint64_t room_beside(const Scenario& scenario, const FilePlan& files,
                          const std::function<bool(const FilePlan&)>& fits) {
  std::set<FilePlan> others;
  for (const Case& one : scenario.cases)
    if (one.files && *one.files != files && one.files->on == files.on) others.insert(*one.files);
  std::uint64_t bytes = 0;
  for (const FilePlan& other : others)
    if (fits(other)) bytes += room_for(other);
  return bytes;
}

std::string why_no_room(const FilePlan& files, const Scenario& scenario, const Catalogue& catalogue) {
  if (!catalogue.no_room) return {};
  const auto fits = [&](const FilePlan& other) { return catalogue.no_room(other, 0).empty(); };
  return catalogue.no_room(files, room_beside(scenario, files, fits));
}

// Times a whole command: neither of joust's engines is part of it.
Entry files_entry(Entry entry, std::string no_room) {
  if (entry.unavailable.empty()) entry.unavailable = std::move(no_room);
  entry.server_tcp = entry.client_tcp = false;
  return entry;
}

// Returns why an engine cannot be that side of the protocol on this machine. Empty if it can.
std::string why_not(const EngineChoice& choice, Side side, const ProtocolRow* protocol,
                    const Catalogue& catalogue) {
  const std::string& name = choice.engine;
  if (protocol != nullptr) {
    const auto& unsupported = side == Side::server ? protocol->unsupported : protocol->unsupported_clients;
    if (const auto found = unsupported.find(name); found != unsupported.end()) return found->second;
  }
  const Engine* const engine = catalogue.engine(name);
  if (engine == nullptr) return {};
  std::string reason = catalogue.unavailable(name);
  if (reason.empty())
    if (const auto found = unavailable_choice(*engine, choice.knobs))
      reason = fmt::format("{}={}: {}", found->knob, found->choice, found->reason);
  if (reason.empty()) return {};
  return side == Side::server ? fmt::format("unavailable: {}", reason)
                              : fmt::format("unavailable: client {}: {}", name, reason);
}

// Removes a case's options from the sides on which they have no effect.
void leave_out_without_effect(Entry& entry, const Protocol& protocol) {
  const Parameters client = parameters_of(protocol, entry.client_options, Role::dial);
  const auto leave_out = [&](Settings& options, const EngineChoice& own, Role side) {
    std::erase_if(options, [&](const auto& option) {
      return !own.options.contains(option.first) && !protocol.no_effect(option.first, side, client).empty();
    });
  };
  leave_out(entry.server_options, entry.contestant.server, Role::serve);
  leave_out(entry.client_options, entry.contestant.client, Role::dial);
}

// Gives both sides of an entry the options of the protocol: the contestant's own, and those of the case that
// have an effect on the side. Throws std::invalid_argument where the load cannot be repeated with them.
void add_options(Entry& entry, const Case& one, const Catalogue& catalogue) {
  entry.server_options = options_of(one, entry.contestant.server, Role::serve, catalogue);
  entry.client_options = options_of(one, entry.contestant.client, Role::dial, catalogue);
  const ProtocolRow* const row = catalogue.protocol(one.protocol);
  if (row == nullptr) return;
  const Protocol& protocol = *row->protocol;
  if (protocol.no_effect) leave_out_without_effect(entry, protocol);
  if (protocol.repeatable && !entry.contestant.external())
    entry.server_options =
        protocol.repeatable(entry.server_options, parameters_of(protocol, entry.client_options, Role::dial));
  if (!entry.in_process) return;
  for (const auto& given : entry.server_options)
    if (const ProtocolOption* option = row->option(given.first); option != nullptr && option->in_ceiling)
      entry.client_options.insert(given);
}

// Makes the entry of a contestant in a case, with the reason if it cannot run here.
Entry contestant_entry(const Contestant& contestant, const Case& one, const Scenario& scenario,
                       const Catalogue& catalogue) {
  const ProtocolRow* const protocol = catalogue.protocol(one.protocol);
  Entry entry{.contestant = contestant};
  const Engine* const server = catalogue.engine(contestant.server.engine);
  if (server != nullptr && server->several_loops)
    entry.contestant.server.threads = one.server_threads.value_or(contestant.server.threads);
  if (!contestant.external()) {
    entry.unavailable = why_not(contestant.server, Side::server, protocol, catalogue);
    entry.server_polled = has_kernel_threads(contestant.server, catalogue);
    entry.server_forks = server != nullptr && server->separate_processes;
    entry.server_tcp = server == nullptr || server->transport == Transport::stream;
    if (server != nullptr) entry.listen = server->listens_at();
  }
  for (const std::string& program : contestant.needs)
    if (catalogue.has_program && !catalogue.has_program(program))
      entry.unavailable = fmt::format("unavailable: {} is not installed", program);
  if (one.files && entry.unavailable.empty() && catalogue.no_transfer)
    entry.unavailable = catalogue.no_transfer(contestant.command, contestant.transfer);
  if (one.files) return files_entry(std::move(entry), why_no_room(*one.files, scenario, catalogue));
  entry.client_polled = has_kernel_threads(contestant.client, catalogue);
  const bool over_unix = contestant.server.transport == "unix";
  if (over_unix) entry.listen = kUnixSocket;
  const Engine* const client = catalogue.engine(contestant.client.engine);
  entry.client_forks = client != nullptr && client->separate_processes;
  entry.client_tcp = client == nullptr || client->transport == Transport::stream;
  if (over_unix) entry.server_tcp = entry.client_tcp = false;
  if (entry.unavailable.empty())
    entry.unavailable = why_not(contestant.client, Side::client, protocol, catalogue);
  if (entry.unavailable.empty() && protocol != nullptr && protocol->objection) {
    add_options(entry, one, catalogue);
    entry.unavailable = protocol->objection(entry, one);
  }
  return entry;
}

// The engine without a transport, or null.
const Engine* in_process_engine(const Catalogue& catalogue) {
  const auto found = std::ranges::find_if(catalogue.engines, [](const EngineRow& row) {
    return row.engine->in_process && row.unavailable.empty();
  });
  return found == catalogue.engines.end() ? nullptr : found->engine;
}

// Returns how the replies of a case are checked; empty if any reply counts.
std::string verified_by(const Protocol& protocol, const Case& one) {
  return protocol.verified_by ? protocol.verified_by(parameters_of(protocol, one.options, Role::dial))
                              : protocol.verified;
}

std::string why_no_ceiling(const Case& one, const Catalogue& catalogue) {
  if (one.files) return "whole commands are timed, which have no generator";
  if (one.load.tls) return "a load without sockets has no TLS, so it says nothing of this one";
  if (one.load.messages_per_connection)
    return "a load without sockets opens no connections, so it says nothing of short ones";
  if (one.open_loop()) return "an open loop sends at the rate it is given";
  const Engine* const engine = in_process_engine(catalogue);
  if (engine == nullptr) return "no engine that answers in process can run here";
  const ProtocolRow* row = catalogue.protocol(one.protocol);
  const std::string reason = why_not({.engine = std::string(engine->name)}, Side::client, row, catalogue);
  if (!reason.empty() || row == nullptr) return reason;
  const Protocol& protocol = *row->protocol;
  if (protocol.no_ceiling)
    return protocol.no_ceiling(parameters_of(protocol, one.options, Role::serve),
                               parameters_of(protocol, one.options, Role::dial));
  if (protocol.has_ceiling) return {};
  constexpr auto kWhy =
      "of '{}' the server's own work is the larger part, which would slow down a client in "
      "the same process";
  return fmt::format(kWhy, one.protocol);
}

// Adds the ceilings. The generator's ceiling depends on its number of threads and how they wait. It does not
// depend on the client's engine, because a load in process has no sockets.
void add_ceilings(CaseResult& result, const Catalogue& catalogue) {
  result.no_ceiling = why_no_ceiling(result.plan, catalogue);
  if (!result.no_ceiling.empty()) return;
  const Engine* const engine = in_process_engine(catalogue);
  std::set<std::pair<std::uint64_t, std::string>> setups;
  for (const Entry& entry : std::vector<Entry>(result.entries)) {
    const EngineChoice& client = entry.contestant.client;
    if (!entry.is_contestant() || !entry.unavailable.empty()) continue;
    if (!setups.emplace(client.threads, client.wait).second) continue;
    const EngineChoice null{
        .engine = std::string(engine->name), .threads = client.threads, .wait = client.wait};
    result.entries.push_back(
        {.kind = EntryKind::ceiling,
         .contestant = {.name = fmt::format("ceiling ({})", describe(null)), .server = null, .client = null},
         .in_process = true,
         .ranked = false,
         .reason = "the generator's ceiling, for check 1"});
  }
}

Entry second_entry(const Entry& reference) {
  Entry again = reference;
  again.kind = EntryKind::again;
  again.repeats = reference.contestant.name;
  again.contestant.name += kAgain;
  again.trials.clear();
  again.failures = 0;
  again.ranked = false;
  again.reason = "the reference once more, for check 4";
  return again;
}

// The default reference is the first contestant that can run.
void add_reference(CaseResult& result, const std::string& wanted) {
  for (const Entry& entry : result.entries) {
    if (!entry.ranked || (!wanted.empty() && entry.contestant.name != wanted)) continue;
    result.reference = entry.contestant.name;
    result.entries.push_back(second_entry(entry));
    return;
  }
}

// Returns whether a ceiling is measured no more: it is far from the contestants' rates, or was measured so
// often that a disturbance of one trial does not matter. Without trials it is a plan: once.
bool is_known(const CaseResult& one, const Entry& ceiling) {
  constexpr double kFarAway = 3;
  constexpr std::size_t kOftenEnough = 3;
  const std::vector<const Trial*> measured = usable_trials(ceiling);
  if (ceiling.trials.empty() || measured.size() >= kOftenEnough) return true;
  double greatest = 0, lowest = std::numeric_limits<double>::infinity();
  for (const Trial* trial : measured) lowest = std::min(lowest, trial->throughput_per_s().value_or(0));
  for (const Entry* entry : contestants_of(one))
    for (const Trial* trial : usable_trials(*entry))
      greatest = std::max(greatest, trial->throughput_per_s().value_or(0));
  return !measured.empty() && lowest > kFarAway * greatest;
}

// Returns whether a load can be split into turns. An interval needs a window without breaks. At a rate the
// schedule goes on from turn to turn as if no time had passed, but the longest turn must have some messages,
// and bursts of all connections must not fall into ramps.
bool takes_turns(const LoadPlan& load) {
  constexpr double kFewest = 10;
  const double longest_turn_s = std::chrono::duration<double>(kLongestChosenTurn).count();
  return load.interval == Duration{} && load.phase == LoadPlan().phase &&
         (!load.open_loop() || load.rate_per_s * longest_turn_s >= kFewest);
}

void set_turns(CaseResult& one, const Protocol& protocol, bool asked_for) {
  if (one.plan.is_near_capacity() && !asked_for) return;
  const auto rests = [&](const Entry& entry) {
    return std::ranges::none_of(protocol.options_without_turns, [&](const std::string& option) {
      return entry.server_options.contains(option) || entry.client_options.contains(option);
    });
  };
  LoadPlan& load = one.plan.load;
  TurnPlan& turn = one.plan.turn;
  load.turns = protocol.takes_turns && takes_turns(load) && std::ranges::all_of(one.entries, rests);
  if (!load.turns) return;
  if (protocol.counts_turns || load.messages)
    turn.unit = protocol.counts_turns ? TurnUnit::transfers : TurnUnit::messages;
  turn.count = load.messages.value_or(0);
  load.counted_turns = turn.unit != TurnUnit::time;
}

// Returns the warm-ups of all entries in one generation.
Duration warmups_of(const CaseResult& one) {
  Duration sum{};
  for (const Entry& entry : one.entries) sum += entry.contestant.warmup.value_or(one.plan.load.warmup);
  return sum;
}

// A generation lasts little longer than the windows and the warm-ups of all its contestants together.
Duration longest_rest(const CaseResult& one, Duration turn) {
  const LoadPlan& load = one.plan.load;
  if (!load.turns) return {};
  if (load.counted_turns) turn = kFewestTurns * std::max<Duration>(turn, kLongestChosenTurn);
  return (2 * load.duration + 2 * turn + std::chrono::seconds(15)) *
             static_cast<std::int64_t>(one.entries.size()) +
         warmups_of(one);
}

// Plans many short generations in place of few long ones: what differs from start to start is sampled by
// generations only, and with few of them intervals are wide, because they hardly know their noise. A warm-up
// that was asked for is kept. Where it is long, there are fewer generations, so that not nearly all of the
// time goes into warm-ups. `share`: the part of the race's time for one entry.
void shorten(CaseResult& result, Duration share) {
  LoadPlan& load = result.plan.load;
  constexpr std::int64_t kWantedGenerations = 12, kFewestGenerations = 6;
  constexpr Duration kLongestWarmup = std::chrono::milliseconds(100);
  // Start and end of both processes, and the opening of one connection.
  constexpr Duration kStart = std::chrono::milliseconds(100), kOpening = std::chrono::microseconds(100);
  // In tenths: the rest are ramps, last replies, and the time from turn to turn.
  constexpr std::int64_t kWindowShare = 7;
  constexpr Duration kShortest = std::chrono::milliseconds(100);
  constexpr double kSamples = 2000;  // at a given rate, so that 20 lie beyond the p99 of each trial
  if (!result.plan.warmup_given) load.warmup = std::min(load.warmup, kLongestWarmup);
  Duration warmups{};
  const std::vector<const Entry*> entries = entries_of_contestants(result);
  for (const Entry* entry : entries) warmups += later_warmup(*entry, load, result.plan.warmup_given);
  const Duration warmup = warmups / static_cast<std::int64_t>(std::max<std::size_t>(1, entries.size()));
  const Duration start = kStart + static_cast<std::int64_t>(load.connections) * kOpening;
  const auto in_turns = [&](std::int64_t generations) {
    return (share / generations - start - warmup) * kWindowShare / 10;
  };
  const Duration enough = std::min<Duration>(load.duration, warmup / 2);
  std::int64_t generations = kWantedGenerations;
  while (generations > kFewestGenerations && in_turns(generations) < enough) --generations;
  const auto sampled = std::chrono::round<Duration>(
      std::chrono::duration<double>(load.open_loop() ? kSamples / load.rate_per_s : 0));
  load.duration = std::min(load.duration, std::max<Duration>({kShortest, in_turns(generations), sampled}));
}

// Sets how the race ends. Trials with a window of their own are no basis for a goal, because enough of them
// for a precise result take hours. A race with such trials has a number of rounds, or as many of these as fit
// into the time.
void set_rule(Plan& plan, const Scenario& scenario) {
  plan.by_rule = std::ranges::any_of(plan.cases, [](const CaseResult& one) { return one.plan.load.turns; });
  plan.by_time = plan.by_rule || !scenario.few_rounds;
  plan.rounds = plan.by_rule ? kMostRounds : scenario.few_rounds ? kQuickRounds : kStandardRounds;
  std::size_t entries = 0;
  for (const CaseResult& one : plan.cases) entries += entries_of_contestants(one).size();
  for (CaseResult& one : plan.cases)
    if (plan.by_rule && one.plan.load.turns && entries > 0)
      shorten(one, scenario.time / static_cast<std::int64_t>(entries));
}

}  // namespace

Plan make_plan(const Scenario& scenario, const Catalogue& catalogue, std::uint64_t seed) {
  Plan plan{.seed = seed, .rounds = scenario.rounds, .cases = {}};
  for (const Case& one : scenario.cases) {
    CaseResult result{.plan = one};
    if (one.load.open_loop()) result.plan.load.arrivals = one.load.known_arrivals();
    const ProtocolRow* const row = catalogue.protocol(one.protocol);
    if (row != nullptr) result.verified = verified_by(*row->protocol, one);
    for (const Contestant& contestant : scenario.contestants)
      if (contestant.takes_part_in(one))
        result.entries.push_back(contestant_entry(contestant, one, scenario, catalogue));
    for (Entry& entry : result.entries) {
      entry.reason = entry.unavailable;
      if (entry.reason.empty() && !entry.contestant.moves_files)
        entry.reason = "it moves no files: a bound, to compare with";
      entry.ranked = entry.reason.empty();
    }
    add_reference(result, scenario.reference);
    if (result.reference.empty()) add_reference(result, {});
    add_ceilings(result, catalogue);
    for (Entry& entry : result.entries) add_options(entry, one, catalogue);
    if (scenario.turns && row != nullptr) set_turns(result, *row->protocol, scenario.turn.has_value());
    result.plan.turn.rest = longest_rest(result, scenario.turn.value_or(Duration{}));
    plan.cases.push_back(std::move(result));
  }
  if (plan.rounds == 0) set_rule(plan, scenario);
  begin_round(plan, 1);
  return plan;
}

void replace_reference(CaseResult& result) {
  const Entry* const reference = find_entry(result, result.reference);
  if (reference == nullptr || reference->unavailable.empty()) return;
  const auto next = std::ranges::find_if(result.entries, &Entry::ranked);
  if (next == result.entries.end()) return;
  const auto again = std::ranges::find(result.entries, EntryKind::again, &Entry::kind);
  result.reference = next->contestant.name;
  if (again != result.entries.end()) *again = second_entry(*next);
}

void give_up_turns(Plan& plan, const Scenario& scenario, std::size_t case_index, Duration message) {
  Case& one = plan.cases[case_index].plan;
  const std::uint64_t seed = one.load.seed;
  one.load = scenario.cases[case_index].load;
  one.load.arrivals = one.load.known_arrivals();
  one.load.seed = seed;
  one.turn = {};
  if (!one.load.messages && !one.load.open_loop() && 2 * message > one.load.duration) one.load.messages = 1;
  if (plan.by_rule) set_rule(plan, scenario);
}

Plan make_pilot(const Scenario& scenario, const Catalogue& catalogue, std::uint64_t seed) {
  Plan plan = make_plan(scenario, catalogue, seed);
  plan.counts_calls = false;
  for (CaseResult& one : plan.cases)
    std::erase_if(one.entries, [](const Entry& entry) { return !entry.is_contestant(); });
  return plan;
}

void begin_round(Plan& plan, std::uint64_t round) {
  std::seed_seq seed{plan.seed & 0xffffffffU, plan.seed >> 32, round};
  stats::Random random(seed);
  const std::uint64_t drawn = random() >> 32;  // short, for the command line
  for (CaseResult& one : plan.cases) one.plan.load.seed = drawn;
}

std::vector<Slot> order_of_round(const Plan& plan, std::uint64_t round, std::uint64_t attempt) {
  std::vector<Slot> order;
  for (std::size_t c = 0; c < plan.cases.size(); ++c)
    for (std::size_t e = 0; e < plan.cases[c].entries.size(); ++e) {
      const Entry& entry = plan.cases[c].entries[e];
      const bool is_over = entry.kind == EntryKind::ceiling && round > 1 && is_known(plan.cases[c], entry);
      if (entry.unavailable.empty() && !is_over) order.push_back({c, e});
    }
  std::seed_seq seed{plan.seed & 0xffffffffU, plan.seed >> 32, round, attempt};
  stats::Random random(seed);
  stats::shuffle(order, random);
  return order;
}

std::vector<std::size_t> cases_in_order(const Plan& plan, std::uint64_t round) {
  std::vector<std::size_t> cases;
  for (const Slot& slot : order_of_round(plan, round))
    if (std::ranges::count(cases, slot.case_index) == 0) cases.push_back(slot.case_index);
  return cases;
}

std::size_t trials_in(const Plan& plan) {
  std::size_t trials = 0;
  for (std::uint64_t round = 1; round <= plan.rounds; ++round) trials += order_of_round(plan, round).size();
  return trials;
}

}  // namespace joust::race
