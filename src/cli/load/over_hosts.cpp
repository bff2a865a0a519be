// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/merged_load.hpp"
#include "cli/common/output.hpp"
#include "cli/common/result_file.hpp"
#include "cli/hosts/cluster.hpp"
#include "cli/hosts/layout.hpp"
#include "cli/hosts/mpirun.hpp"
#include "cli/load/command.hpp"
#include "hosts/link.hpp"
#include "race/scenario/shell_command.hpp"
#include "report/facts_json.hpp"
#include "report/load_text.hpp"

namespace joust {
namespace {

using Message = nlohmann::json;
using namespace std::chrono_literals;

constexpr Duration kForServer = 20s, kForStop = 10s;
constexpr Duration kForReply = 5s;                     // beside the time that a host has for the work
constexpr Duration kForEnd = 10s;                      // from the window's end to the result
constexpr Duration kLongestCounted = 1h;               // for a load that ends after a number of messages
constexpr Duration kLead = 250ms, kLeadOfHost = 10ms;  // from the last connection to the start
// A start that is later is a start that was missed.
constexpr Duration kLatestStart = 50ms;
constexpr int kLatestShare = 100;  // of the window: 1 %

std::uint64_t ms(Duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::ceil<std::chrono::milliseconds>(std::max(time, Duration{})).count());
}

// "many.json" becomes "many.2.json".
std::string with_number(const std::string& path, std::size_t number) {
  std::filesystem::path file(path);
  file.replace_extension(fmt::format("{}{}", number, file.extension().string()));
  return file.string();
}

// Returns what a server has used, from its last event; null if that does not tell.
nlohmann::ordered_json usage_in(const Message& reply) {
  const Message event = reply.value("event", Message::object());
  const Message usage = event.is_object() ? event.value("usage", Message()) : Message();
  for (const char* key : {"cpu_user_s", "cpu_system_s"})
    if (!usage.is_object() || !usage.contains(key) || !usage[key].is_number()) return nullptr;
  return usage;
}

// Returns the port of the address on which a server listens; nothing if the reply has none.
std::optional<std::uint16_t> port_in(const Message& reply) {
  const Message event = reply.value("event", Message::object());
  const Message address = event.is_object() ? event.value("address", Message()) : Message();
  if (!address.is_string()) return std::nullopt;
  const auto text = address.get<std::string>();
  const char* const end = text.data() + text.size();
  std::uint16_t port = 0;
  const auto read = std::from_chars(text.data() + text.rfind(':') + 1, end, port);
  return read.ec == std::errc() && read.ptr == end && port > 0 ? std::optional(port) : std::nullopt;
}

// One load that several hosts make together: conducts it, on rank 0. The order: the servers listen; all
// connections open; all begin at one time; each host has its result in a file of its own; the results are
// merged. A host that fails is named with the reason, and its connections count as failed. One thread.
class LoadOverHosts {
 public:
  // `load`: with a plan and valid arguments.
  explicit LoadOverHosts(Load& load);

  int run();

 private:
  // A process that loads.
  struct Generator {
    std::size_t rank;
    std::string id, file;
    LoadPartArguments part;
    bool is_ready = false;
    LoadOfHost outcome;
  };

  void divide();
  void start_servers();
  void connect();
  void measure();
  void post_run(std::size_t rank);
  void take_results(std::size_t rank);
  void take_result_from(Generator& generator, const nlohmann::json& reply, std::size_t number);
  void take_result(Generator& generator, const nlohmann::json& result);
  void stop_servers();
  std::string servers_text() const;
  int conclude();
  void fail(Generator& generator, const std::string& why);
  Duration longest_window() const;
  std::vector<std::string> server_words() const;
  std::string file_of(std::size_t number) const;
  std::vector<Generator*> of_rank(std::size_t rank, bool ready);

  Load& load_;
  Cluster cluster_;
  const Layout layout_;
  std::vector<std::string> addresses_{};                              // of the servers
  nlohmann::ordered_json servers_ = nlohmann::ordered_json::array();  // what each used until its end
  std::vector<Generator> generators_{};
  Time begins_{};  // of all, on this host's clock
};

LoadOverHosts::LoadOverHosts(Load& load)
    : load_(load),
      cluster_(load.program, version_of(load.program), load.hosts.names()),
      layout_(load.hosts.layout_of(cluster_.size(), load.plan.connections)) {}

Duration LoadOverHosts::longest_window() const {
  const auto window = load_.plan.window();
  return window ? load_.plan.warmup + *window : kLongestCounted;
}

std::string LoadOverHosts::file_of(std::size_t number) const {
  if (!load_.json.empty() && load_.json != "-") return with_number(load_.json, number);
  return fmt::format("{}/{}.json", kFolderOfAgent, number);
}

// Divides the connections among the processes that load, each with connections of its own numbers.
void LoadOverHosts::divide() {
  const std::uint64_t all = load_.plan.connections, processes = layout_.loads.size();
  if (all < processes)
    throw UsageError(fmt::format("-c: {} for {} processes that load: one each is needed",
                                 counted(all, "connection"), processes));
  std::map<std::size_t, int> before;
  for (std::size_t i = 0; i < processes; ++i) {
    const std::uint64_t first = all * i / processes, end = all * (i + 1) / processes;
    const std::size_t rank = layout_.loads[i];
    const int number = ++before[rank];
    Generator generator{
        .rank = rank,
        .id = fmt::format("load{}", i),
        .file = file_of(i),
        .part = {.first_connection = first, .connections = end - first, .all_connections = all},
        .outcome = {}};
    generator.part.json = generator.file;
    generator.outcome.name =
        number == 1 ? cluster_.name(rank) : fmt::format("{} ({})", cluster_.name(rank), number);
    if (rank > 0) {
      generator.outcome.clock_offset_ns = cluster_.clock(rank).offset.count();
      generator.outcome.clock_error_ns = cluster_.clock(rank).error.count();
    }
    generators_.push_back(std::move(generator));
  }
}

// The options of the protocol that a server takes are passed on to it.
std::vector<std::string> LoadOverHosts::server_words() const {
  std::vector<std::string> words{"serve",
                                 "-e",
                                 load_.hosts.serve,
                                 "-p",
                                 load_.protocol.name,
                                 "--public",
                                 "--listen",
                                 load_.connect.empty() ? "*:0" : load_.connect};
  for (const ProtocolOption& option : load_.protocol.resolve(load_.program).options) {
    const auto given = load_.protocol.given.find(option.name);
    if (!option.serves || given == load_.protocol.given.end()) continue;
    for (const std::string_view line : split(given->second, '\n'))
      words.insert(words.end(), {"--" + option.name, std::string(line)});
  }
  words.insert(words.end(), {"--max-connections", fmt::format("{}", load_.plan.connections + 16)});
  if (const Duration idle = load_.limits.idle; idle != Limits{}.idle)
    words.insert(words.end(), {"--idle-timeout", fmt::format("{}ms", ms(idle))});
  return words;
}

void LoadOverHosts::start_servers() {
  for (std::size_t i = 0; i < layout_.servers.size(); ++i) {
    HostLink& host = cluster_.at(layout_.servers[i]);
    const auto reply = host.call({{"do", "start"},
                                  {"id", fmt::format("serve{}", i)},
                                  {"words", server_words()},
                                  {"until", "listening"},
                                  {"patience_ms", ms(kForServer)}},
                                 kForServer + kForReply);
    if (const auto why = hosts::failure_in(reply))
      throw std::runtime_error(fmt::format("{}: the server did not start: {}", host.name(), *why));
    const std::string place = load_.program.rank->on_one_host ? "127.0.0.1" : host.name();
    const auto port = port_in(*reply);
    if (!port)
      throw std::runtime_error(fmt::format("{}: the server: {}", host.name(), hosts::kNotUnderstood));
    addresses_.push_back(load_.connect.empty() ? fmt::format("{}:{}", place, *port) : load_.connect);
  }
}

void LoadOverHosts::fail(Generator& generator, const std::string& why) {
  LoadOfHost& host = generator.outcome;
  host.trouble = why;
  LoadPlan plan = load_.plan;
  generator.part.apply_to(plan);
  host.result = no_result(plan);
  host.result.connections.failed = generator.part.connections;
  host.result.errors[static_cast<std::size_t>(Stage::local)] = generator.part.connections;
}

std::vector<LoadOverHosts::Generator*> LoadOverHosts::of_rank(std::size_t rank, bool ready) {
  std::vector<Generator*> all;
  for (Generator& generator : generators_)
    if (generator.rank == rank && (generator.is_ready || !ready)) all.push_back(&generator);
  return all;
}

// Starts the loads: all hosts at once, the processes of a host one after the other.
void LoadOverHosts::connect() {
  const Duration patience = load_.limits.resolve + load_.limits.connect * 2 + 30s;
  for (std::size_t round = 0;; ++round) {
    std::vector<Generator*> started;
    for (std::size_t rank = 0; rank < cluster_.size(); ++rank) {
      const auto all = of_rank(rank, false);
      if (round >= all.size()) continue;
      Generator& generator = *all[round];
      const auto number = static_cast<std::size_t>(&generator - generators_.data());
      generator.part.connect = addresses_.empty() ? load_.connect : addresses_[number % addresses_.size()];
      std::vector<std::string> words(load_.program.words.begin() + 1, load_.program.words.end());
      words.insert(words.end(), {"--load-part", generator.part.text()});
      const auto posted = cluster_.at(rank).post({{"do", "start"},
                                                  {"id", generator.id},
                                                  {"words", std::move(words)},
                                                  {"until", "connected"},
                                                  {"patience_ms", ms(patience)}});
      if (!posted)
        fail(generator, posted.error());
      else
        started.push_back(&generator);
    }
    if (started.empty()) return;
    for (Generator* generator : started) {
      const auto reply = cluster_.at(generator->rank).await(patience + kForReply);
      if (const auto why = hosts::failure_in(reply))
        fail(*generator, "not ready: " + *why);
      else
        generator->is_ready = true;
    }
  }
}

// Tells a host when to begin, on its own clock. It is left alone until its loads have ended.
void LoadOverHosts::post_run(std::size_t rank) {
  Message loads = Message::array();
  for (const Generator* generator : of_rank(rank, true))
    loads.push_back({{"id", generator->id},
                     {"file", generator->file},
                     {"keep", load_.json_option->given() && load_.json != "-"}});
  const Message request{
      {"do", "run"},
      {"loads", std::move(loads)},
      {"at_ns", (begins_ + cluster_.clock(rank).offset).time_since_epoch().count()},
      {"patience_ms", ms(longest_window() + load_.plan.request_timeout.value_or(5s) + kForEnd)}};
  if (const auto posted = cluster_.at(rank).post(request); !posted)
    for (Generator* generator : of_rank(rank, true)) fail(*generator, posted.error());
}

void LoadOverHosts::measure() {
  begins_ = Clock::now() + kLead + kLeadOfHost * static_cast<int>(cluster_.size());
  std::set<std::size_t> used;
  for (const Generator& generator : generators_)
    if (generator.is_ready) used.insert(generator.rank);
  for (const std::size_t rank : used) post_run(rank);
  for (const std::size_t rank : used) take_results(rank);
}

void LoadOverHosts::take_results(std::size_t rank) {
  const Duration patience = begins_ - Clock::now() + longest_window() +
                            load_.plan.request_timeout.value_or(5s) + kForEnd + kForReply;
  const auto reply = cluster_.at(rank).await(std::max(patience, kForReply));
  const auto ready = of_rank(rank, true);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (const auto why = hosts::failure_in(reply))
      fail(*ready[i], *why);
    else
      take_result_from(*ready[i], *reply, i);
  }
}

// The reply is that of another host, which may say anything.
void LoadOverHosts::take_result_from(Generator& generator, const Message& reply, std::size_t number) {
  try {
    take_result(generator, reply.at("results").at(number));
  } catch (const Message::exception&) {
    generator.outcome.document = nullptr;
    fail(generator, hosts::kNotUnderstood);
  }
}

void LoadOverHosts::take_result(Generator& generator, const Message& result) {
  if (result.contains("trouble")) return fail(generator, result.at("trouble").get<std::string>());
  LoadOfHost& host = generator.outcome;
  host.document = documents::parsed(result.at("document").get<std::string>());
  if (const std::string why = read_part(host); !why.empty()) {
    host.document = nullptr;
    return fail(generator, why);
  }
  if (!host.result.window_ns) return;
  const Time opened = host.result.window_ns->from - cluster_.clock(generator.rank).offset;
  host.opened_ns = opened.time_since_epoch().count();
  if (load_.plan.messages && load_.plan.warmup != Duration{})
    return;  // it opens when the warm-up is answered
  const Duration late = opened - (begins_ + load_.plan.warmup);
  if (late <= std::max<Duration>(kLatestStart, load_.plan.duration / kLatestShare)) return;
  host.trouble = fmt::format("it began {} late", format_duration(late));
  host.result.connections.failed = generator.part.connections;
  host.result.connections.ok = 0;
}

void LoadOverHosts::stop_servers() {
  for (std::size_t i = 0; i < layout_.servers.size(); ++i) {
    HostLink& host = cluster_.at(layout_.servers[i]);
    const auto reply =
        host.call({{"do", "stop"}, {"id", fmt::format("serve{}", i)}, {"patience_ms", ms(kForStop)}},
                  kForStop + kForReply);
    nlohmann::ordered_json server{{"name", host.name()}, {"usage", nullptr}};
    if (const auto why = hosts::failure_in(reply))
      complain(load_.program, fmt::format("{}: the server: {}", host.name(), *why));
    else
      server["usage"] = usage_in(*reply);
    servers_.push_back(std::move(server));
  }
}

// Returns a line about the servers that were started; empty if none was. Their time is that of their whole
// life, with the opening of the connections and the warm-up.
std::string LoadOverHosts::servers_text() const {
  std::string text;
  for (const auto& server : servers_) {
    const auto& usage = server.at("usage");
    if (!text.empty()) text += ", ";
    text += server.at("name").get<std::string>() + " ";
    text += usage.is_null()
                ? "not known"
                : fmt::format("{:.3f} s user, {:.3f} s system", usage.at("cpu_user_s").get<double>(),
                              usage.at("cpu_system_s").get<double>());
  }
  return text.empty() ? text : "CPU time of the servers, from start to end: " + text + "\n";
}

int LoadOverHosts::conclude() {
  std::vector<LoadOfHost> hosts;
  for (Generator& generator : generators_) hosts.push_back(std::move(generator.outcome));
  if (std::ranges::all_of(hosts, [](const LoadOfHost& host) { return host.document.is_null(); })) {
    std::string why =
        stop_of_hosts().requested() ? "interrupted before a host had a result" : "no host has a result";
    for (const LoadOfHost& host : hosts) why += fmt::format("; {}: {}", host.name, host.trouble);
    throw std::runtime_error(why);
  }
  WholeLoad whole = merged_load(hosts);
  whole.document["servers"] = servers_;
  const std::string unwritten = load_.json.empty() ? "" : load_.write(whole.document);
  if (const std::string text = load_.trouble(nullptr, whole.result); !text.empty())
    complain(load_.program, text);
  if (load_.json != "-")
    print_result(for_people(
        fmt::format("{} on {} hosts: {}\n", load_.protocol.name, hosts.size(), plan_text(whole.result.plan)) +
        load_text(whole.result) + "\n" + hosts_text(whole, hosts) + servers_text()));
  if (!unwritten.empty()) complain(load_.program, unwritten);
  return whole.result.clean() && unwritten.empty() ? kOk : kRunError;
}

int LoadOverHosts::run() {
  divide();
  start_servers();
  connect();
  if (std::ranges::any_of(generators_, &Generator::is_ready)) measure();
  stop_servers();
  return conclude();
}

void check_arguments(const Load& load, const Protocol& protocol) {
  for (const char* alone : {"broadcast", "file"})
    if (protocol.name == alone)
      throw UsageError(
          fmt::format("--hosts: the connections of '{}' are not independent of one another", alone));
  if (!load.hosts.serve.empty() && load.connect.starts_with("unix:"))
    throw UsageError("--connect: other hosts do not reach a unix socket");
  if (load.tries > 0 || load.search_option->given() || load.events || load.turns_asked ||
      load.counted_turns_asked || !load.hosts.start_at.empty())
    throw UsageError(
        "--hosts makes one load of many: it excludes --search, --try, --events, --turns and --start-at");
  const std::vector<std::string> names = load.hosts.names();
  if (!names.empty()) static_cast<void>(load.hosts.layout_of(names.size(), load.plan.connections));
}

// Checks all arguments before the hosts are started, and makes the plan. The address of a server that is
// still to be started takes a place for documentation.
void check_whole(Load& load, const Protocol& protocol) {
  load.engine.take_knobs(load.program, load.protocol.given, load.socket);
  const Engine& chosen = load.engine.resolve(Role::dial, protocol);
  if (chosen.in_process) throw UsageError(fmt::format("--hosts: engine '{}' has no sockets", chosen.name));
  const std::string given = load.connect;
  if (given.empty() && !load.hosts.serve.empty()) load.connect = "192.0.2.1:9";
  load.check(chosen, protocol);
  load.connect = given;
}

}  // namespace

int load_over_hosts(Load& load) {
  const Protocol& protocol = load.protocol.resolve(load.program);
  check_arguments(load, protocol);
  check_whole(load, protocol);
  if (!load.program.rank) {
    const std::vector<std::string> names = load.hosts.names(), words = mpirun_words(load.program, names);
    if (!load.hosts.dry_run) return run_mpirun(words, names, load.program);
    print_text(race::shell_text(words) + "\n");
    return kOk;
  }
  if (load.hosts.names().empty() && !load.program.rank->on_one_host && load.connect.empty())
    throw UsageError(
        "--serve: the address of the server is not known, because this mpirun names no hosts; say --connect "
        "ADDRESS:PORT, or --hosts A,B in place of mpirun");
  return LoadOverHosts(load).run();
}

}  // namespace joust
