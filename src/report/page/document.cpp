// SPDX-License-Identifier: MIT
#include "report/page/document.hpp"
#include "measure/hdr_histogram.hpp"
#include "race/model/result.hpp"
#include "race/scenario/shell_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>

#include "base/error_words.hpp"
#include "base/fields.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "report/race_json.hpp"
#include "report/row_order.hpp"

namespace joust::report::page {
namespace {

// Returns a number that may be missing or null; the key may be one of an object that is missing too.
std::optional<double> number_in(const std::optional<Node>& object, const char* key) {
  if (!object) return std::nullopt;
  const auto member = object->find(key);
  return member ? std::optional(member->number()) : std::nullopt;
}

std::optional<CpuTime> cpu_of(const std::optional<Node>& object, const char* user, const char* system) {
  const auto in_user = number_in(object, user), in_system = number_in(object, system);
  if (!in_user || !in_system) return std::nullopt;
  return CpuTime{.user_s = *in_user, .system_s = *in_system};
}

void add(std::optional<CpuTime>& sum, const std::optional<CpuTime>& more) {
  if (!more) return;
  if (!sum) sum = CpuTime{};
  sum->user_s += more->user_s;
  sum->system_s += more->system_s;
}

// Returns the CPU time of a message in microseconds. A time of 0 is not known.
std::optional<double> per_message(const std::optional<CpuTime>& cpu, const std::optional<double>& messages) {
  if (!cpu || !messages || *messages <= 0 || cpu->user_s + cpu->system_s <= 0) return std::nullopt;
  return (cpu->user_s + cpu->system_s) * 1e6 / *messages;
}

// Returns whether the CPU time of the server is that of the window, as in Trial::known_server_usage().
bool knows_server(const Node& trial, const Node& load) {
  return !trial["server"].find("cpu_unknown") &&
         number_in(load, "duration_s").value_or(0) >= race::kLeastWindowOfServer_s;
}

// Returns the cost of a message as the race compares it: that of the server, and of both sides where commands
// move files.
std::optional<double> cost_of_trial(const Node& trial, const Node& load, bool moves_files,
                                    const std::optional<CpuTime>& server,
                                    const std::optional<CpuTime>& client) {
  const auto of_turns = number_in(trial, "server_cpu_us_per_message");
  if (moves_files) {
    const auto files = number_in(load, "verified");
    const auto of_server = per_message(server, files), of_client = per_message(client, files);
    return of_client ? std::optional(of_server.value_or(0) + *of_client) : std::nullopt;
  }
  if (trial.find("turns")) return of_turns;
  if (!knows_server(trial, load)) return std::nullopt;
  return per_message(server, number_in(load.find("messages"), "verified"));
}

// Returns the throughput of an open loop, which the document has only as the rate and the messages.
std::optional<double> throughput_of(const Node& trial, const Node& load) {
  const auto of_turns = number_in(trial, "throughput_per_s");
  return of_turns ? of_turns : number_in(load, "throughput_per_s");
}

// Adds the latencies of a trial, whose histogram may be missing.
void add_latencies(const Node& trial, bool& all_known, Distribution& into) {
  const auto histograms = trial.find("histograms");
  const auto text = histograms ? histograms->find("latency") : std::nullopt;
  const auto latencies = text ? read_hdr_histogram(text->text()) : std::nullopt;
  if (latencies && latencies->count() <= Distribution::kMostValues - into.count())
    into.merge(*latencies);
  else
    all_known = false;
}

void read_failure(const Node& trial, Runner& into) {
  const auto failure = trial.find("failure");
  if (!failure) return;
  into.failure = failure->text();
  if (const auto words = trial.find("last_words"))
    for (const Node& line : words->items()) into.last_words.push_back(line.text());
}

// Reads the trials that count: the figures of every generation and the CPU time of both sides. Throws
// WrongDocument.
void read_trials(const Node& trials, bool moves_files, Runner& into) {
  bool knows_latencies = true;
  for (const Node& trial : trials.items()) {
    if (into.failure.empty()) read_failure(trial, into);
    if (!trial["counted"].flag() || trial.find("failure")) continue;
    const std::optional<Node> load = trial.find("load");
    if (!load) continue;
    const auto server = cpu_of(trial["server"], "cpu_user_s", "cpu_system_s");
    const auto client = cpu_of(load->find("cpu"), "user_s", "system_s");
    add(into.server_cpu, server);
    add(into.client_cpu, client);
    Generation generation{.round = trial["round"].count(),
                          .throughput = throughput_of(trial, *load),
                          .cost = cost_of_trial(trial, *load, moves_files, server, client)};
    if (const auto latency = load->find("latency_ns"))
      for (const char* percentile : {"mean", "p50", "p99", "p999"})
        if (const auto value = number_in(latency, percentile)) generation.latency_ns[percentile] = *value;
    into.generations.push_back(std::move(generation));
    add_latencies(trial, knows_latencies, into.latency);
  }
  if (!knows_latencies) into.latency = {};
}

// Throws unless this is the result of a race, in the version that is read here.
void require_race(const Node& root) {
  if (!root.is_object() || !root.find("schema"))
    root.fail("is no result of joust: it has no key 'schema'; give the file of 'race --json'");
  const std::string schema = root["schema"].text();
  if (schema == kRaceSchema || schema == kOldRaceSchema) return;
  if (schema.starts_with("joust-race/"))
    throw WrongDocument(fmt::format(
        "schema: is '{}', and this version reads '{}'; use the version of joust that made the file ({})",
        schema, kRaceSchema, root.find("joust") ? root["joust"].text() : "not named"));
  throw WrongDocument(fmt::format("schema: is '{}', and should be '{}': give the file of 'race --json'",
                                  schema, kRaceSchema));
}

std::optional<Place> read_place(const Node& node) {
  if (node.is_null()) return std::nullopt;
  return Place{.first = node["first"].count(), .last = node["last"].count()};
}

// Returns an engine with what differs from the defaults: "epoll:trigger=level,threads=4".
std::string engine_text(const Node& side) {
  std::string name = side["engine"].text(), knobs;
  if (name == "external") return {};
  for (const auto& [key, value] : side.members()) {
    if (key == "engine" || (key == "wait" && value.text() == "block")) continue;
    if (key == "threads" && value.count() == 1) continue;
    knobs += fmt::format("{}{}={}", knobs.empty() ? ":" : ",", key,
                         key == "threads" ? fmt::format("{}", value.count()) : value.text());
  }
  return name + knobs;
}

Kind read_kind(const Node& node) {
  const std::string kind = node.text();
  const auto known = value_of_word<Kind>(kind);
  if (!known) node.fail(fmt::format("is '{}', and should be contestant, again or ceiling", kind));
  return *known;
}

Runner read_runner(const Node& node, bool moves_files) {
  Runner runner{.name = node["name"].text(),
                .reason = node["reason"].text(),
                .kind = read_kind(node["kind"]),
                .ranked = node["ranked"].flag(),
                .at_least = node["at_least"].flag(),
                .limit_unknown = node.find("limit_unknown") && node["limit_unknown"].flag(),
                .server = engine_text(node["server"]),
                .client = engine_text(node["client"]),
                .place = read_place(node["place"]),
                .cost_place = read_place(node["cost_place"])};
  const Node summary = node["summary"];
  runner.figures = read_figures(summary);
  for (const Node& few : summary["latency_ns"]["few_beyond"].items()) runner.few_beyond.insert(few.text());
  read_trials(node["trials"], moves_files, runner);
  return runner;
}

Finding read_finding(const Node& node) {
  Finding finding{.id = node["id"].count(),
                  .title = node["title"].text(),
                  .verdict = node["verdict"].text(),
                  .detail = node["detail"].text()};
  if (finding.verdict != "PASS" && finding.verdict != "WARN" && finding.verdict != "REFUSE")
    node["verdict"].fail(fmt::format("is '{}', and should be PASS, WARN or REFUSE", finding.verdict));
  return finding;
}

std::optional<double> number_at(const Node& node, const char* key) {
  const auto member = node.find(key);
  return member ? std::optional(member->number()) : std::nullopt;
}

// Returns what a case asks for, without these keys of its load.
std::string identity_without(const Node& node, const std::vector<const char*>& keys) {
  Node::Json asked{node["protocol"].json(), node["options"].json(), node["files"].json(),
                   node["load"].json()};
  for (const char* key : keys) asked[3].erase(key);
  return asked.dump(-1, ' ', false, Node::Json::error_handler_t::replace);
}

// Returns the identity of a case: a race chooses the length of its turns itself, and measures the rate of
// which its load is a share.
std::string identity_of(const Node& node) {
  std::vector<const char*> chosen{"duration_s", "warmup_s"};
  if (node["load"].find("rate_share")) chosen.push_back("rate_per_s");
  return identity_without(node, chosen);
}

// Returns the place of a case of a sweep or of several rates.
std::optional<AxisPoint> read_point(const Node& node) {
  const Node load = node["load"];
  const auto rate = number_at(load, "rate_per_s"), share = number_at(load, "rate_share");
  if (const auto sweep = node.find("sweep")) {
    AxisPoint point{.axis = (*sweep)["axis"].text(), .value = (*sweep)["value"].number()};
    point.curve = fmt::format("{} over {}", (*sweep)["of"].text(), point.axis);
    if (point.axis != "rate" && share)
      point.curve += fmt::format(" at {:.3g} % of the capacity", 100 * *share);
    else if (point.axis != "rate" && rate)
      point.curve += fmt::format(" at {}/s", format_rate(*rate));
    return point;
  }
  if (!rate) return std::nullopt;
  return AxisPoint{.axis = "rate",
                   .curve = identity_without(node, {"rate_per_s", "rate_share", "duration_s", "warmup_s"}),
                   .value = *rate,
                   .share = share};
}

std::string load_of(const Node& node) {
  if (const auto files = node.find("files"))
    return fmt::format("{} of {}, moved by whole commands", counted((*files)["count"].count(), "file"),
                       format_data((*files)["bytes"].number()));
  const Node load = node["load"];
  std::vector<std::string> parts{node["protocol"].text(), counted(load["connections"].count(), "connection")};
  if (const auto rate = number_at(load, "rate_per_s"))
    parts.push_back(
        fmt::format("open loop of {} messages/s, {} arrivals", format_rate(*rate), load["arrivals"].text()));
  else if (const double interval = load["interval_s"].number(); interval > 0)
    parts.push_back(fmt::format("a message every {:g} s on each", interval));
  else
    parts.emplace_back("closed loop");
  if (load["depth"].count() > 1)
    parts.push_back(fmt::format("{} requests outstanding on each", load["depth"].count()));
  if (const auto payload = number_at(load, "payload_bytes"))
    parts.push_back(format_size(static_cast<std::uint64_t>(*payload)) + " payload");
  for (const auto& [option, value] : node["options"].members())
    parts.push_back(fmt::format("{} {}", option, value.text()));
  return join(parts);
}

Heat read_heat(const Node& node) {
  Heat heat{.name = node["name"].text(),
            .title = node["title"].text(),
            .load = load_of(node),
            .verdict = node["verdict"].text(),
            .reference = node["reference"].text(),
            .identity = identity_of(node),
            .ranked_by = node["ranked_by"].text(),
            .moves_files = node.find("files").has_value(),
            .unverified = !node.find("files") && node.json().contains("verified") && !node.find("verified"),
            .point = read_point(node)};
  if (heat.by_latency() && heat.ranked_by != "p99" && heat.ranked_by != "p50" && heat.ranked_by != "mean")
    node["ranked_by"].fail(
        fmt::format("is '{}', and should be throughput, p99, p50 or mean", heat.ranked_by));
  return heat;
}

Heat& heat_of(Document& document, const Node& name) {
  const auto found = std::ranges::find(document.heats, name.text(), &Heat::name);
  if (found == document.heats.end()) name.fail(fmt::format("'{}' is none of the cases", name.text()));
  return *found;
}

// Refuses documents that are nested so deeply that a copy of them would need too much stack.
bool allowed_depth(int depth, Node::Json::parse_event_t /*event*/, Node::Json& /*parsed*/) {
  constexpr int kDeepest = 64;
  if (depth > kDeepest) throw WrongDocument(fmt::format("is nested deeper than {} levels", kDeepest));
  return true;
}

// Rates make a curve only if there are several.
void drop_lonely_points(Document& document) {
  const auto lonely = [&](const Heat& heat) {
    return heat.point && std::ranges::count_if(document.heats, [&](const Heat& other) {
                           return other.point && other.point->curve == heat.point->curve;
                         }) == 1;
  };
  std::vector<Heat*> alone;
  for (Heat& heat : document.heats)
    if (lonely(heat)) alone.push_back(&heat);
  for (Heat* heat : alone) heat->point.reset();
}

void read_scenario(const Node& scenario, Document& document) {
  document.title = scenario["title"].text();
  document.scenario_file = scenario["file"].text();
  if (const auto text = scenario.find("text")) document.scenario_text = text->text();
  document.precision = number_at(scenario, "precision").value_or(0);
  document.server_cpus = scenario["cpus"]["server"].text();
  document.client_cpus = scenario["cpus"]["client"].text();
}

Document document_of(const Node& root) {
  require_race(root);
  Document document{.version = root["joust"].text(),
                    .started = root["started"].text(),
                    .verdict = root["verdict"].text(),
                    .incomplete = root["complete"].flag() ? "" : root["incomplete"].text(),
                    .took_s = root["took_s"].number(),
                    .rounds = root["rounds"].count(),
                    .seed = root["seed"].count()};
  if (const auto code = root.find("exit_code")) document.exit_code = code->count();
  if (const auto reason = root.find("exit_reason")) document.exit_reason = reason->text();
  read_scenario(root["scenario"], document);
  if (const auto network = root.find("network")) document.network = network->text();
  std::vector<std::string> command;
  for (const Node& word : root["command_line"].items()) command.push_back(word.text());
  document.command = race::shell_text(command);
  for (const Node& one : root["cases"].items()) document.heats.push_back(read_heat(one));
  if (document.heats.empty()) root["cases"].fail("is empty, and should have a case");
  for (const Node& one : root["checks"].items())
    heat_of(document, one["case"]).findings.push_back(read_finding(one));
  for (const Node& one : root["contestants"].items()) {
    Heat& heat = heat_of(document, one["case"]);
    heat.runners.push_back(read_runner(one, heat.moves_files));
  }
  if (const auto thresholds = root.find("thresholds"))
    for (const Node& one : thresholds->items())
      document.thresholds.push_back({.heat = one["case"].text(),
                                     .contestant = one["contestant"].text(),
                                     .figure = one["figure"].text(),
                                     .sentence = one["sentence"].text(),
                                     .decision = one["decision"].text()});
  for (const auto& [name, value] : root["environment"].members())
    document.environment.push_back({name, value.text()});
  drop_lonely_points(document);
  return document;
}

}  // namespace

const Measured* Runner::figure(std::string_view key) const {
  const auto found = figures.find(key);
  return found == figures.end() ? nullptr : &found->second;
}

const Measured* Runner::percentile(const std::string& key) const {
  const Measured* const of_rounds = figure("latency_ns.intervals." + key);
  return of_rounds != nullptr ? of_rounds : figure("latency_ns." + key);
}

const Runner* Heat::find(std::string_view wanted) const {
  const auto found = std::ranges::find(runners, wanted, &Runner::name);
  return found == runners.end() ? nullptr : &*found;
}

const Heat* Document::find(std::string_view wanted) const {
  const auto found = std::ranges::find(heats, wanted, &Heat::name);
  return found == heats.end() ? nullptr : &*found;
}

std::vector<const Runner*> Heat::contestants() const {
  std::vector<const Runner*> all;
  for (const Runner& runner : runners)
    if (runner.kind == Kind::contestant) all.push_back(&runner);
  const std::string key = by_latency() ? "latency_ns.intervals." + ranked_by : "throughput_per_s";
  std::vector<RowFacts> facts;
  for (const Runner* runner : all) {
    const Measured* const figure = runner->figure(key);
    const Measured* const cost = runner->figure("cost_us_per_message");
    RowFacts& row = facts.emplace_back();
    row.is_ranked = runner->is_sound();
    row.is_bound = runner->may_be_faster() && !by_latency();
    row.has_place = runner->place.has_value();
    if (figure != nullptr) row.figure = by_latency() ? figure->value : -figure->value;
    if (cost != nullptr) row.cost = cost->value;
    row.has_cost_place = runner->cost_place.has_value();
  }
  std::vector<const Runner*> ordered;
  for (const std::size_t number : row_order(facts)) ordered.push_back(all[number]);
  return ordered;
}

std::string Heat::ratio_key() const {
  return by_latency() ? "latency_ratio." + ranked_by : "ratio";
}

std::expected<Document, std::string> read_document(std::string json) {
  try {
    const Node::Json parsed = Node::Json::parse(json, allowed_depth);
    Document document = document_of(Node(parsed, ""));
    document.json = std::move(json);
    return document;
  } catch (const WrongDocument& wrong) {
    return std::unexpected(wrong.what());
  } catch (const Node::Json::parse_error& error) {
    return std::unexpected(
        fmt::format("is no JSON, or cut: wrong at byte {} of {}", error.byte, json.size()));
  } catch (const Node::Json::exception& error) {
    return std::unexpected(fmt::format("is no result of joust: {}", words_of(error)));
  }
}

}  // namespace joust::report::page
