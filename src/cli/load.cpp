// SPDX-License-Identifier: MIT
#include "cli/common/descriptors.hpp"
#include "cli/load/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/units.hpp"
#include "cli/common/result_file.hpp"
#include "cli/load/plan_and_url.hpp"
#include "hosting/options.hpp"
#include "load/schedule.hpp"
#include "net/address.hpp"

namespace joust {
namespace {

// The drain limit of a load with counted turns. At rest a stop is the ordinary end, and a transfer is
// verified then. Sessions have limits of their own.
constexpr Duration kLongestEnd = std::chrono::minutes(2);

// The shortest interval of progress lines. Reading the counts of many threads takes a tenth of a millisecond.
constexpr Duration kShortestProgress = std::chrono::milliseconds(10);

std::string load_examples(const Program& program) {
  return fmt::format(R"(Examples:
  {0} load -p {1} --connect 127.0.0.1:9000 -c 100 -d 5s
  {0} load -e threads -p {1} --connect '[::1]:9000' -c 10 -m 1k --payload 4KiB
  {0} load -p {1} --connect unix:/tmp/{0}.sock -c 4000 -m 300 -i 10ms --json result.json
  {0} load -p {1} --connect 127.0.0.1:9000 -c 50 -R 5k --arrivals constant
  {0} load -p {1} --connect 127.0.0.1:9000 -c 50 --search 'p99<1ms'
  {0} load -p {1} --hosts a,b,c --serve epoll -c 3k -d 5s    a serves, b and c load
  {0} load -p {1} --connect 127.0.0.1:9000 --try 1    shows the bytes of one message and its reply
{2}  {0} load -e null -p {1} -c 100 -d 2s          no sockets: what {0} itself can do

All connections are open before the first message; every reply is verified as its protocol says.
Without -R the loop is closed: a connection waits for its reply, so a server that stops delays one message of
each, and users would find it slower than its latency says. With -R latency counts from the time at which a
message was due, "uncorrected" from the time at which it was sent, and "sent late by" is the load's own part.
Exit code 0: replies came, and all were right. 1: a request failed, a connection never had a reply, nothing
was measured, or it was interrupted. 3: in --search the load itself was late.)",
                     program.name, program.protocols.front().name,
                     program.find_protocol("http") != nullptr
                         ? fmt::format("  {0} load http://127.0.0.1:8080/ -c 50 -d 5s\n"
                                       "  {0} load https://127.0.0.1:8443/ -c 50 -d 5s --tls-ca ca.pem\n",
                                       program.name)
                         : "");
}

// Makes the plan of --try: a few messages on one connection, one after the other.
void make_trial(Load& load) {
  for (const char* setting : {"messages", "duration", "warmup", "connections", "rate", "interval", "depth"})
    if (load.load.has(setting))
      throw UsageError(fmt::format("--try sends its messages one by one on one connection: leave {} out",
                                   load_setting(setting).flag()));
  if (!load.json.empty() || load.search_option->given() || load.turns_asked || load.counted_turns_asked ||
      load.events || !load.planned.empty())
    throw UsageError(
        "--try shows messages and measures nothing: it excludes --json, --search, --plan, --events and "
        "--turns");
  if (load.protocol.name == "file")
    throw UsageError("--try shows messages, and 'file' moves files: leave it out");
  load.plan.messages = load.tries;
  load.plan.connections = 1;
}

// Returns whether a protocol can travel inside another one, by its option `framing`.
bool travels_inside(const Program& program, const std::string& name, const std::string& outer) {
  const Protocol* const protocol = program.find_protocol(name);
  if (protocol == nullptr) return false;
  const auto framing = std::ranges::find(protocol->options, "framing", &ProtocolOption::name);
  return framing != protocol->options.end() &&
         std::ranges::find(framing->choices, outer) != framing->choices.end();
}

// Takes what the conductor of a load over several hosts has determined, in place of the options.
void take_part(Load& load) {
  load.part = part_from(load.hosts.part);
  if (!load.part)
    throw UsageError("--load-part is passed by joust itself, to the processes of a load over several hosts");
  load.connect = load.part->connect;
  load.json = load.part->json;
  load.progress = "none";
  load.events = true;
}

void prepare_start(Load& load) {
  if (load.plan.turns || load.search_option->given() || load.tries > 0)
    throw UsageError("--start-at is for one measurement: it excludes --search, --try and --turns");
  const auto time = parse_start(load.hosts.start_at);
  if (!time) throw UsageError("--start-at: " + time.error());
  load.begins = *time;
}

}  // namespace

void Load::check(const Engine& chosen, const Protocol& chosen_protocol) {
  check_connect(connect, chosen);
  make_plan(chosen_protocol);
  const std::size_t payload = plan.payload.value_or(Parameters{}.payload);
  check_payload(chosen, chosen_protocol, payload);
  if (events && json.empty())
    throw UsageError("--events takes the place of the table: say --json FILE for the result");
  if (events && json == "-")
    throw UsageError("--events and --json - both write to standard output: say --json FILE for the result");
  if (json_option->given() && json != "-") {
    std::vector<std::string> files;  // a value may name one: --file, --output
    for (const auto& [name, value] : protocol.given) files.push_back(value);
    ensure_writable(json, files);
  }
  if (plan.turns && (!events || load.has("messages") || load.has("duration")))
    throw UsageError("--turns needs --events, and neither -m nor -d: each turn has a length of its own");
  if (ramp_option->given() && (!plan.turns || plan.counted_turns))
    throw UsageError("--ramp is for --turns: a counted turn has none");
  if (plan.turns && !chosen_protocol.takes_turns)
    throw UsageError(fmt::format("--turns: the connections of '{}' cannot rest", protocol.name));
  if (plan.turns && !plan.counted_turns && chosen_protocol.counts_turns)
    throw UsageError(fmt::format("--turns: a turn of '{}' is a count: say --counted-turns", protocol.name));
  if (plan.counted_turns && plan.has_schedule())
    throw UsageError("--counted-turns excludes -i and -R: a schedule needs turns of a length");
  if (plan.counted_turns) limits.drain = kLongestEnd;
  check_connections(chosen, engine.threads, plan.connections);
  check_load(plan, planned.empty() ? GivenIn::flags : GivenIn::document);
  check_reconnect(plan, chosen, chosen_protocol);
  check_tls(plan, chosen, connect);
  if (search_option->given()) prepare_search();
  if (search_time_option->given() && !search_option->given())
    throw UsageError("--time is that of --search; a load lasts as long as -d says");
  if (!hosts.start_at.empty()) prepare_start(*this);
  prepare_progress();
  protocol.check(chosen_protocol, chosen.in_process, true);
  parameters = protocol.parameters(chosen_protocol, Role::dial);
  parameters.payload = payload;
  check_effects(chosen_protocol, protocol.given, parameters, chosen.in_process);
  const std::string unused = payload_unused(chosen_protocol, parameters);
  if (!unused.empty() && load.has("payload")) throw UsageError("--payload has no effect: " + unused);
  plan.payload = unused.empty() ? std::optional<std::uint64_t>(payload) : std::nullopt;
  check_demands(chosen, chosen_protocol, parameters, &plan);
}

// Makes the plan from a document, or from flags.
void Load::make_plan(const Protocol& chosen_protocol) {
  if (!planned.empty()) {
    if (!load.given.empty())
      throw UsageError(fmt::format("--plan has the whole load: leave {} out",
                                   load_setting(load.given.begin()->first).flag()));
    plan.tls = plan.tls || secure_url;
  } else {
    if (secure_url) load.given.insert_or_assign("tls", "true");
    if (const auto conflict = conflict_in(load.given, GivenIn::flags)) throw UsageError(conflict->text);
    apply(load.given, plan, LoadPlan());
    const bool has_end = load.has("messages") || load.has("duration");
    if (const std::uint64_t usual = chosen_protocol.standard_messages;
        usual > 0 && !has_end && !turns_asked && !counted_turns_asked && !search_option->given())
      plan.messages = usual;
  }
  if (tries > 0) make_trial(*this);
  if (part) part->apply_to(plan);
  plan.counted_turns = counted_turns_asked;
  plan.turns = turns_asked || counted_turns_asked;
}

void Load::prepare_search() {
  const auto parsed = parse_criterion(wanted);
  if (!parsed) throw UsageError("--search: " + parsed.error());
  if (plan.messages || plan.turns || events || plan.interval != Duration{})
    throw UsageError("--search tries rates: it excludes -m, -i, --turns and --events");
  if (plan.reconnects())
    throw UsageError("--search excludes --reconnect: a rate holds only if no connection is lost");
  if (plan.open_loop() && plan.rate_per_s < 1)
    throw UsageError("--search: -R is the first rate to be tried, at least 1 message a second");
  criterion = *parsed;
  if (!load.has("duration") && planned.empty()) plan.duration = kSearchWindow;
  if (!load.has("warmup") && planned.empty()) plan.warmup = kSearchWarmup;
}

// Chooses the interval of progress lines. They are for people who wait, so none go to a pipe or a file unless
// they are asked for.
void Load::prepare_progress() {
  constexpr Duration kOnTerminal = std::chrono::seconds(1), kElsewhere = std::chrono::seconds(10);
  if (progress_option->given() && criterion)
    throw UsageError("--search excludes --progress: it shows each step when it is over");
  if (criterion || progress == "none") return;
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  if (progress.empty()) {
    if (is_terminal || progress_option->given()) progress_every = is_terminal ? kOnTerminal : kElsewhere;
    return;
  }
  const auto time = parse_duration(progress);
  if (!time) throw UsageError(fmt::format("--progress: {}, and it is not none", time.error()));
  if (*time < kShortestProgress || *time > kLongestTime)
    throw UsageError(fmt::format("--progress: {} is not between {} and {}", progress,
                                 format_duration(kShortestProgress), format_duration(kLongestTime)));
  progress_every = *time;
}

std::vector<std::string> Load::remarks(const Engine& chosen) const {
  std::vector<std::string> remarks = engine.remarks(chosen);
  // A race (--events) gives its server a limit that fits the gap.
  const Duration usual = Limits{}.idle, gap = longest_gap(plan);
  if (gap >= usual && !chosen.in_process && !events)
    remarks.push_back(fmt::format(
        "a connection may pause for {}: a server may close connections on which nothing moves for so long; "
        "'{} serve' does after {}, unless its --idle-timeout says more",
        format_duration(gap), program.name, format_duration(usual)));
  return remarks;
}

// Takes the plan of --plan, and with a result also what it says of the protocol, the address and the engine.
// The address and the engine may be others on the command line: then the same messages go another way.
void Load::take_planned() {
  auto read = read_planned(planned);
  if (!read) throw UsageError("--plan: " + read.error());
  plan = read->plan;
  if (!read->choice) return;
  const StoredChoice& stored = *read->choice;
  if (!url.empty())
    throw UsageError("--plan: the result has the protocol and its options: say --connect ADDRESS");
  if (!protocol.name_option->given()) protocol.name = stored.protocol;
  const Protocol& chosen = protocol.resolve(program);
  if (&chosen != &resolve_protocol(program, stored.protocol))
    throw UsageError(fmt::format("--plan: the load is of the protocol '{}': leave -p {} out", stored.protocol,
                                 protocol.name));
  protocol.take_stored(chosen, stored.options);
  engine.take_stored(stored.engine, stored.threads, stored.wait, stored.knobs);
  socket.take_stored(stored.nodelay, stored.congestion);
  if (socket.options.send_buffer == 0) socket.options.send_buffer = static_cast<int>(stored.send_buffer);
  if (socket.options.receive_buffer == 0)
    socket.options.receive_buffer = static_cast<int>(stored.receive_buffer);
  if (connect.empty()) connect = stored.address;
}

// Takes the parts of a URL for the options that they stand for.
void Load::take_url() {
  const auto parsed = parse_load_url(url);
  if (!parsed) throw UsageError(parsed.error());
  const bool is_inside =
      protocol.name_option->given() && travels_inside(program, protocol.name, parsed->protocol);
  const bool other_protocol =
      protocol.name_option->given() && protocol.name != parsed->protocol && !is_inside;
  if (!connect.empty() || other_protocol || protocol.given.contains("path") ||
      protocol.given.contains("host"))
    throw UsageError(fmt::format("{} has it all: leave -p, --connect, --path and --host out", url));
  if (is_inside)
    protocol.given.emplace("framing", parsed->protocol);
  else
    protocol.name = parsed->protocol;
  connect = parsed->address;
  secure_url = parsed->secure;
  protocol.given["path"] = parsed->path;
  protocol.given["host"] = parsed->host;
  const bool has_body = !protocol.given.contains("method") || protocol.given["method"] != "HEAD";
  if (protocol.name == "http" && has_body && !protocol.given.contains("text"))
    protocol.given.emplace("body", "any");
}

int Load::run() {
  if (!planned.empty()) take_planned();
  if (!url.empty()) take_url();
  if (!hosts.part.empty()) take_part(*this);
  if (hosts.conducts(program)) return load_over_hosts(*this);
  if (!part) hosts.ensure_unused();
  const Protocol& chosen_protocol = protocol.resolve(program);
  engine.take_knobs(program, protocol.given, socket);
  const Engine& chosen = engine.resolve(Role::dial, chosen_protocol);
  check(chosen, chosen_protocol);
  const EngineOptions options = engine.options(chosen);
  for (const std::string& remark : remarks(chosen)) complain(program, remark);
  pin(engine.cpus);
  if (!chosen.in_process) ensure_descriptors("-c", plan.connections, chosen);
  raise_descriptor_limit();

  Tally tally;
  std::optional<Target> target;
  if (chosen.in_process && !socket.given().empty())
    throw UsageError(fmt::format("engine '{}' has no sockets: leave {} out", chosen.name, socket.given()));
  if (!chosen.in_process) {
    std::vector<Endpoint> endpoints;
    try {
      endpoints = resolved_target(connect, limits.resolve, chosen, options.knobs);
    } catch (const std::runtime_error& unresolved) {
      if (!criterion) write_unresolved({chosen, chosen_protocol, options, nullptr, tally}, unresolved.what());
      throw;
    }
    socket.settle(endpoints.front(), chosen.transport, tally);
    const auto sources = sources_for(endpoints.front(), plan.connections, local_ports());
    if (!sources) throw UsageError("-c: " + sources.error());
    target.emplace(connect, std::move(endpoints), socket.options, chosen.transport);
    target->spread_over(*sources);
  }
  const Loaded whom{chosen, chosen_protocol, options, target ? &*target : nullptr, tally};
  return tries > 0 ? show_messages(whom) : criterion ? search(whom) : measure_once(whom);
}

namespace {

// How a race drives the load.
void add_turns(Command& command, Load& load) {
  command.add_flag("--turns", load.turns_asked,
                   "rest, and send only in the turns that SIGUSR1 begins (its value: microseconds); needs "
                   "--events, ends with SIGTERM");
  command.add_flag("--counted-turns", load.counted_turns_asked,
                   "the same, and the value is the number of messages or transfers of each connection");
  load.ramp_option = add_duration(command, "--ramp", load.ramp,
                                  "with --turns: so much of the begin of a turn is not recorded, at most a "
                                  "fifth of it [a fifth]",
                                  std::chrono::microseconds(1));
}

}  // namespace

void add_load(Command root, const Program& program, int& exit_code) {
  auto load = std::make_shared<Load>(program);
  Command command = root.add_command("load", "Load a server, verify every reply and measure");
  load->engine.add_to(command);
  load->protocol.add_to(command, program, Role::dial);
  if (program.find_protocol("http") != nullptr)
    command
        .add_option("url", load->url,
                    "a page to load, in place of -p and --connect: http://127.0.0.1:8080/, or https://, or a "
                    "server of WebSocket echo: ws:// or wss://")
        .type_name("URL");
  command
      .add_option("--connect", load->connect,
                  "the address of the server: 127.0.0.1:9000, [::1]:9000, host:9000, unix:PATH")
      .type_name("ADDRESS");
  load->load.add_load(command, LoadPlan(), false);
  command
      .add_option("--plan", load->planned,
                  "the whole load, in place of its flags: a result of --json, with its protocol, options, "
                  "address and engine, or a file or text with what such a result has as \"plan\"")
      .type_name("FILE");
  load->search_option =
      command
          .add_option(
              "--search", load->wanted,
              "the highest rate at which this holds: 'p99<1ms', 'p99.9<5ms', 'mean<200us', 'max<1s'; tries "
              "rates from -R [0.6 of what a closed loop reaches] on, for -d [100ms] each, and longer "
              "where the figure needs more messages")
          .type_name("LIMIT");
  load->search_time_option =
      add_duration(command, "--time", load->search_time,
                   "how long --search may take; it begins no try after it [30s]", std::chrono::seconds(1));
  add_duration(command, "--resolve-timeout", load->limits.resolve,
               "give up looking the name up, once before the first connect, if it takes longer [5s]",
               std::chrono::milliseconds(1));
  add_duration(command, "--connect-timeout", load->limits.connect,
               "give a connection up that takes longer [10s]", std::chrono::milliseconds(1));
  add_duration(command, "--idle-timeout", load->limits.idle,
               "close a connection on which nothing moves, beside the pauses of -i [60s]",
               std::chrono::milliseconds(1));
  load->json_option = command.add_option("--json", load->json, "write the result to this file; - prints it")
                          .type_name("FILE");
  add_count(command, "--try", load->tries,
            "send so many messages on one connection, show what is sent and what comes, and measure nothing",
            1, 1000);
  load->progress_option =
      command
          .add_option(
              "--progress,--live", load->progress,
              "a line on standard error each second, or each TIME; none [on a terminal: 1s; elsewhere none, "
              "and 10s for --progress alone]")
          .value_optional()
          .type_name("[TIME]");
  command.add_flag("--events", load->events,
                   "print a JSON line at each stage of the run, not the table; needs --json FILE");
  add_turns(command, *load);
  load->hosts.add_to(command);
  load->socket.add_to(command);
  command.first_options({"--engine",   "--threads",         "--protocol", "--connect", "--connections",
                         "--messages", "--duration",        "--warmup",   "--rate",    "--depth",
                         "--payload",  "--request-timeout", "--tls",      "--tls-ca",  "--search",
                         "--try",      "--hosts",           "--serve",    "--json",    "--progress"});
  command.footer(load_examples(program));
  command.callback([load, &exit_code] { exit_code = load->run(); });
}

}  // namespace joust
