// SPDX-License-Identifier: MIT
#include "report/page/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/document.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "measure/hdr_histogram.hpp"
#include "race/model/result.hpp"
#include "race/scenario/shell_command.hpp"
#include "report/row_order.hpp"

namespace joust::report::page {
namespace {

using document::Json;
using documents::way_below;

// The members that are read of the load of a trial: of the document of a load, or of a command that moves
// files.
struct LoadOfTrial {
  struct Messages {
    Rare<std::uint64_t> verified{};
  };
  struct Cpu {
    Rare<double> user_s{}, system_s{};
  };
  struct Latency {
    Rare<std::optional<double>> mean{}, p50{}, p99{}, p999{};
  };

  Rare<Messages> messages{};
  Rare<std::uint64_t> verified{};  // files
  Rare<double> duration_s{}, throughput_per_s{};
  Rare<Latency> latency_ns{};
  Rare<Cpu> cpu{};
};

// The members that are read of the load of a case.
struct LoadOfCase {
  std::uint64_t connections = 0, depth = 0;
  double interval_s = 0;
  Rare<std::optional<double>> rate_per_s{}, rate_share{};
  Rare<std::optional<std::string>> arrivals{};
  Rare<std::optional<std::uint64_t>> payload_bytes{};
};

// The member of a side of a contestant that always is there, beside knobs and options of any name.
struct Side {
  std::string engine{};
};

// Throws WrongDocument for a number that no figure of a race can be.
void require_figures(const auto& value, const std::string& way) {
  documents::each_number(value, way, require_figure);
}

template <typename T>
T read_part(const Json& document, const std::string& way) {
  T part{};
  documents::read(document, way, part);
  require_figures(part, way);
  return part;
}

// Returns what may be missing or null.
template <typename T>
std::optional<T> known(const Rare<std::optional<T>>& member) {
  return member.value_or(std::nullopt);
}

std::optional<CpuTime> cpu_of(const std::optional<double>& user_s, const std::optional<double>& system_s) {
  if (!user_s || !system_s) return std::nullopt;
  return CpuTime{.user_s = *user_s, .system_s = *system_s};
}

void add(std::optional<CpuTime>& sum, const std::optional<CpuTime>& more) {
  if (!more) return;
  if (!sum) sum = CpuTime{};
  sum->user_s += more->user_s;
  sum->system_s += more->system_s;
}

// Returns the CPU time of a message in microseconds. A time of 0 is not known.
std::optional<double> per_message(const std::optional<CpuTime>& cpu, std::uint64_t messages) {
  if (!cpu || messages == 0 || cpu->user_s + cpu->system_s <= 0) return std::nullopt;
  return (cpu->user_s + cpu->system_s) * 1e6 / static_cast<double>(messages);
}

// Returns whether the CPU time of the server is that of the window, as in Trial::known_server_usage().
bool knows_server(const document::Trial& trial, const LoadOfTrial& load) {
  return !trial.server.cpu_unknown && load.duration_s.value_or(0) >= race::kLeastWindowOfServer_s;
}

// Returns the cost of a message as the race compares it: that of the server, and of both sides where commands
// move files.
std::optional<double> cost_of_trial(const document::Trial& trial, const LoadOfTrial& load, bool moves_files,
                                    const std::optional<CpuTime>& server,
                                    const std::optional<CpuTime>& client) {
  if (moves_files) {
    const std::uint64_t files = load.verified.value_or(0);
    const auto of_server = per_message(server, files), of_client = per_message(client, files);
    return of_client ? std::optional(of_server.value_or(0) + *of_client) : std::nullopt;
  }
  if (trial.turns) return known(trial.server_cpu_us_per_message);
  if (!knows_server(trial, load) || !load.messages) return std::nullopt;
  return per_message(server, load.messages->verified.value_or(0));
}

// Adds the latencies of a trial, whose histogram may be missing.
void add_latencies(const document::Trial& trial, bool& all_known, Distribution& into) {
  const auto latencies = trial.histograms ? read_hdr_histogram(trial.histograms->latency) : std::nullopt;
  if (latencies && latencies->count() <= Distribution::kMostValues - into.count())
    into.merge(*latencies);
  else
    all_known = false;
}

// Adds the figures of a trial that counts, and the CPU time of both sides.
void add_trial(const document::Trial& trial, const std::string& way, bool moves_files, Contestant& into) {
  const auto load = read_part<LoadOfTrial>(trial.load, way_below(way, "load"));
  require_figures(trial.throughput_per_s, way_below(way, "throughput_per_s"));
  require_figures(trial.server_cpu_us_per_message, way_below(way, "server_cpu_us_per_message"));
  require_figures(trial.server.cpu_user_s, way_below(way, "server.cpu_user_s"));
  require_figures(trial.server.cpu_system_s, way_below(way, "server.cpu_system_s"));
  const auto server = cpu_of(trial.server.cpu_user_s, trial.server.cpu_system_s);
  const auto client = load.cpu ? cpu_of(load.cpu->user_s, load.cpu->system_s) : std::nullopt;
  add(into.server_cpu, server);
  add(into.client_cpu, client);
  const auto of_turns = known(trial.throughput_per_s);
  Trial made{.round = trial.round,
             .throughput = of_turns ? of_turns : load.throughput_per_s,
             .cost = cost_of_trial(trial, load, moves_files, server, client)};
  if (load.latency_ns)
    each_field(*load.latency_ns, [&](std::string_view percentile, const auto& value) {
      if (known(value)) made.latency_ns[std::string(percentile)] = *known(value);
    });
  into.counted.push_back(std::move(made));
}

// Computes the figures of the trials that count. Throws WrongDocument.
void read_trials(const std::string& way, bool moves_files, Contestant& into) {
  bool knows_latencies = true;
  for (std::size_t i = 0; i < into.trials.size(); ++i) {
    const document::Trial& trial = into.trials[i];
    if (!trial.counted || trial.failure || trial.load.is_null()) continue;
    add_trial(trial, way_below(way, i), moves_files, into);
    add_latencies(trial, knows_latencies, into.latency);
  }
  if (!knows_latencies) into.latency = {};
}

// Throws unless this is the result of a race, in the version that is read here.
void require_race(const Json& root) {
  if (!root.is_object() || !root.contains("schema"))
    throw WrongDocument(
        "the document: is no result of joust: it has no key 'schema'; give the file of 'race --json'");
  std::string schema, version = "not named";
  documents::read(root["schema"], "schema", schema);
  if (schema == document::kRaceSchema || schema == document::kOldRaceSchema) return;
  if (root.contains("joust")) documents::read(root["joust"], "joust", version);
  if (schema.starts_with("joust-race/"))
    throw WrongDocument(fmt::format(
        "schema: is '{}', and this version reads '{}'; use the version of joust that made the file ({})",
        schema, document::kRaceSchema, version));
  throw WrongDocument(fmt::format("schema: is '{}', and should be '{}': give the file of 'race --json'",
                                  schema, document::kRaceSchema));
}

// Returns an engine with what differs from the defaults: "epoll:trigger=level,threads=4".
std::string engine_text(const Json& side, const std::string& way) {
  const std::string name = read_part<Side>(side, way).engine;
  if (name == "external") return {};
  std::string knobs;
  for (const auto& [key, value] : side.items()) {
    if (key == "engine") continue;
    std::string text;
    if (key == "threads")
      text = fmt::format("{}", read_part<std::uint64_t>(value, way_below(way, key)));
    else
      text = read_part<std::string>(value, way_below(way, key));
    if ((key == "wait" && text == "block") || (key == "threads" && text == "1")) continue;
    knobs += fmt::format("{}{}={}", knobs.empty() ? ":" : ",", key, text);
  }
  return name + knobs;
}

Contestant read_contestant(document::Contestant contestant, const std::string& way, bool moves_files) {
  Contestant made{std::move(contestant)};
  made.server_engine = engine_text(made.server, way_below(way, "server"));
  made.client_engine = engine_text(made.client, way_below(way, "client"));
  made.figures = figures_of(made.summary, way_below(way, "summary"));
  read_trials(way_below(way, "trials"), moves_files, made);
  return made;
}

// Returns what a case asks for, without these keys of its load.
std::string identity_without(const document::Case& one, const std::vector<const char*>& keys) {
  Json asked{one.protocol, to_document(one.options), to_document(one.files), one.load};
  for (const char* key : keys) asked[3].erase(key);
  return asked.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Returns the identity of a case: a race chooses the length of its turns itself, and measures the rate of
// which its load is a share.
std::string identity_of(const document::Case& one, const LoadOfCase& load) {
  std::vector<const char*> chosen{"duration_s", "warmup_s"};
  if (known(load.rate_share)) chosen.push_back("rate_per_s");
  return identity_without(one, chosen);
}

// Returns the place of a case of a sweep or of several rates.
std::optional<AxisPoint> point_of(const document::Case& one, const LoadOfCase& load) {
  const auto rate = known(load.rate_per_s), share = known(load.rate_share);
  if (one.sweep) {
    AxisPoint point{.axis = one.sweep->axis, .value = one.sweep->value.value};
    point.curve = fmt::format("{} over {}", one.sweep->of, point.axis);
    if (point.axis != "rate" && share)
      point.curve += fmt::format(" at {:.3g} % of the capacity", 100 * *share);
    else if (point.axis != "rate" && rate)
      point.curve += fmt::format(" at {}/s", format_rate(*rate));
    return point;
  }
  if (!rate) return std::nullopt;
  return AxisPoint{.axis = "rate",
                   .curve = identity_without(one, {"rate_per_s", "rate_share", "duration_s", "warmup_s"}),
                   .value = *rate,
                   .share = share};
}

std::string load_of(const document::Case& one, const LoadOfCase& load) {
  if (one.files)
    return fmt::format("{} of {}, moved by whole commands", counted(one.files->count, "file"),
                       format_data(static_cast<double>(one.files->bytes)));
  std::vector<std::string> parts{one.protocol, counted(load.connections, "connection")};
  if (const auto rate = known(load.rate_per_s))
    parts.push_back(fmt::format("open loop of {} messages/s, {} arrivals", format_rate(*rate),
                                known(load.arrivals).value_or("")));
  else if (load.interval_s > 0)
    parts.push_back(fmt::format("a message every {:g} s on each", load.interval_s));
  else
    parts.emplace_back("closed loop");
  if (load.depth > 1) parts.push_back(fmt::format("{} requests outstanding on each", load.depth));
  if (const auto payload = known(load.payload_bytes)) parts.push_back(format_size(*payload) + " payload");
  for (const auto& [option, value] : one.options) parts.push_back(fmt::format("{} {}", option, value));
  return join(parts);
}

Case read_case(document::Case one, const std::string& way) {
  const auto load = read_part<LoadOfCase>(one.load, way_below(way, "load"));
  if (one.sweep) require_figure(way_below(way, "sweep.value"), one.sweep->value.value);
  Case load_case{std::move(one)};
  if (!load_case.causes) load_case.causes.emplace();
  load_case.load_words = load_of(load_case, load);
  load_case.identity = identity_of(load_case, load);
  load_case.point = point_of(load_case, load);
  load_case.rate_per_s = known(load.rate_per_s);
  if (load_case.by_latency() && load_case.ranked_by != "p99" && load_case.ranked_by != "p50" &&
      load_case.ranked_by != "mean")
    documents::refuse(way_below(way, "ranked_by"), fmt::format("'{}'", load_case.ranked_by),
                      "throughput, p99, p50 or mean");
  return load_case;
}

Case& case_of(Document& document, const std::string& name, const std::string& way) {
  const auto found = std::ranges::find(document.cases, name, &Case::name);
  if (found == document.cases.end())
    throw WrongDocument(fmt::format("{}: '{}' is none of the cases", way_below(way, "case"), name));
  return *found;
}

// Refuses documents that are nested so deeply that a copy of them would need too much stack.
bool allowed_depth(int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
  if (depth > documents::kMostLevels)
    throw WrongDocument(fmt::format("is nested deeper than {} levels", documents::kMostLevels));
  return true;
}

// Rates make a curve only if there are several.
void drop_lonely_points(Document& document) {
  const auto lonely = [&](const Case& load_case) {
    return load_case.point && std::ranges::count_if(document.cases, [&](const Case& other) {
                                return other.point && other.point->curve == load_case.point->curve;
                              }) == 1;
  };
  std::vector<Case*> alone;
  for (Case& load_case : document.cases)
    if (lonely(load_case)) alone.push_back(&load_case);
  for (Case* load_case : alone) load_case->point.reset();
}

Document page_document(document::Race race) {
  require_figures(race.took_s, "took_s");
  require_figures(race.scenario.precision, "scenario.precision");
  Document page;
  for (std::size_t i = 0; i < race.cases.size(); ++i)
    page.cases.push_back(read_case(std::move(race.cases[i]), way_below("cases", i)));
  if (page.cases.empty()) throw WrongDocument("cases: is empty, and should have a case");
  for (std::size_t i = 0; i < race.checks.size(); ++i)
    case_of(page, race.checks[i].case_, way_below("checks", i)).checks.push_back(std::move(race.checks[i]));
  for (std::size_t i = 0; i < race.contestants.size(); ++i) {
    const std::string way = way_below("contestants", i);
    Case& load_case = case_of(page, race.contestants[i].case_, way);
    load_case.contestants.push_back(
        read_contestant(std::move(race.contestants[i]), way, load_case.moves_files()));
  }
  if (!race.exit_reason) race.exit_reason.emplace();
  if (!race.thresholds) race.thresholds.emplace();
  if (!race.scenario.precision) race.scenario.precision = 0;
  if (!race.scenario.text) race.scenario.text.emplace();
  if (!race.network) race.network = "Loopback: no network was measured.";
  race.cases.clear(), race.checks.clear(), race.contestants.clear();
  page.race = std::move(race);
  drop_lonely_points(page);
  return page;
}

}  // namespace

const Measured* Contestant::figure(std::string_view key) const {
  const auto found = figures.find(key);
  return found == figures.end() ? nullptr : &found->second;
}

const Measured* Contestant::percentile(const std::string& key) const {
  const Measured* const of_rounds = figure("latency_ns.intervals." + key);
  return of_rounds != nullptr ? of_rounds : figure("latency_ns." + key);
}

const Contestant* Case::find(std::string_view wanted) const {
  const auto found = std::ranges::find(contestants, wanted, &Contestant::name);
  return found == contestants.end() ? nullptr : &*found;
}

const Measured* Contestant::server_cpu_us() const {
  const Measured* const of_rounds = figure("server_cpu_us_per_message");
  return of_rounds != nullptr ? of_rounds : figure("cpu_us_per_message.server");
}

bool has_few_beyond(const document::Latency& latency, std::string_view percentile) {
  return std::ranges::find(latency.few_beyond, percentile) != latency.few_beyond.end();
}

bool Case::carries_files() const {
  return std::ranges::any_of(contestants,
                             [](const Contestant& each) { return each.figure("mb_per_s") != nullptr; });
}

const document::Trial* Contestant::first_failure() const {
  const auto found = std::ranges::find_if(
      trials, [](const document::Trial& trial) { return trial.failure && !trial.failure->empty(); });
  return found == trials.end() ? nullptr : &*found;
}

std::string Document::command() const {
  return race::shell_text(race.command_line);
}

const Case* Document::find(std::string_view wanted) const {
  const auto found = std::ranges::find(cases, wanted, &Case::name);
  return found == cases.end() ? nullptr : &*found;
}

std::vector<const Contestant*> Case::rows() const {
  std::vector<const Contestant*> all;
  for (const Contestant& contestant : contestants)
    if (contestant.kind == Kind::contestant) all.push_back(&contestant);
  const auto figure_of = [](const std::string& key) {
    return [key](const Contestant& contestant) {
      const Measured* const figure = contestant.figure(key);
      return figure == nullptr ? std::nullopt : std::optional(figure->value);
    };
  };
  return in_row_order(all, by_latency(),
                      figure_of(by_latency() ? "latency_ns.intervals." + ranked_by : "throughput_per_s"),
                      figure_of("cost_us_per_message"));
}

std::string Case::ratio_key() const {
  return by_latency() ? "latency_ratio." + ranked_by : "ratio";
}

std::expected<Document, std::string> document_of(document::Race race, std::string json) {
  try {
    Document page = page_document(std::move(race));
    page.json = std::move(json);
    return page;
  } catch (const WrongDocument& wrong) {
    return std::unexpected(wrong.what());
  }
}

std::expected<Document, std::string> read_document(std::string json) {
  try {
    const Json parsed = Json::parse(json, allowed_depth);
    require_race(parsed);
    return document_of(from_document<document::Race>(parsed), std::move(json));
  } catch (const WrongDocument& wrong) {
    return std::unexpected(wrong.what());
  } catch (const Json::parse_error& error) {
    return std::unexpected(
        fmt::format("is no JSON, or cut: wrong at byte {} of {}", error.byte, json.size()));
  } catch (const Json::exception& error) {
    return std::unexpected(fmt::format("is no result of joust: {}", words_of(error)));
  }
}

}  // namespace joust::report::page
