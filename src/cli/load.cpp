// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <mutex>
#include <optional>

#include "base/text.hpp"
#include "cli/common/arguments.hpp"
#include "cli/common/output.hpp"
#include "cli/common/protocol_arguments.hpp"
#include "cli/common/result_file.hpp"
#include "cli/common/schedule_arguments.hpp"
#include "cli/common/signals.hpp"
#include "cli/common/turn_taking.hpp"
#include "connection/tally.hpp"
#include "hosting/loading.hpp"
#include "hosting/options.hpp"
#include "load/result.hpp"
#include "load/schedule.hpp"
#include "net/local_ports.hpp"
#include "net/target.hpp"
#include "report/facts_json.hpp"
#include "report/load_json.hpp"
#include "report/load_text.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

std::string load_examples(const Program& program) {
  return fmt::format(R"(Examples:
  {0} load -p {1} --connect 127.0.0.1:9000 -c 100 -d 5s
  {0} load -e threads -p {1} --connect '[::1]:9000' -c 10 -m 1k --payload 4KiB
  {0} load -p {1} --connect unix:/tmp/{0}.sock -c 4000 -m 300 -i 10ms --json result.json
  {0} load -p {1} --connect 127.0.0.1:9000 -c 50 -R 5k --arrivals poisson
  {0} load -e null -p {1} -c 100 -d 2s          no sockets: what {0} itself can do

All connections are open before the first message; every reply is verified byte for byte.
Without -R the loop is closed: a connection waits for its reply, so a server that stops delays one message of
each, and users would find it slower than its latency says. With -R latency counts from the time at which a
message was due, "uncorrected" from the time at which it was sent, and "sent late by" is the load's own part.
Exit code 0: replies came, and all were right. 1: a request failed, nothing was measured, or it was
interrupted.)",
                     program.name, program.protocols.front().name);
}

struct Load {
  const Program& program;
  EngineArguments engine{};
  SocketArguments socket{};
  Limits limits{};
  LoadPlan plan{};
  Tally tally{};
  Parameters parameters{};
  std::uint64_t connections = 1;
  std::uint64_t messages = 0;
  std::optional<Option> duration{}, json_option{};
  ScheduleArguments schedule{};
  std::uint64_t payload = 32;
  ProtocolArguments protocol{};
  std::string connect{};
  std::string json{};
  bool events = false;
  std::optional<TurnTaking> turns{};
  std::mutex watching{};
  Time opened_at{};  // when this process looked at its usage first,
  Usage before{}, used{};
  Duration used_over{};  // and how long after it looked again

  int run();
  void check(const Engine& chosen, const Protocol& chosen_protocol);
  std::vector<std::string> remarks(const Engine& chosen) const;
  LoadResult measure(const Engine& chosen, const Protocol& chosen_protocol, const EngineOptions& options,
                     const Target* target);
  void watch(LoadRun::Milestone milestone);
  void look_again(Time now);
  std::string trouble(const LoadResult& result) const;
  void emit(std::string_view event) const;
  void write_json(const LoadResult& result, const Engine& chosen, const EngineOptions& options,
                  const Target* target);
};

void Load::emit(std::string_view event) const {
  if (!events) return;
  // A failure shows at the end of the program: this is called on the engine's own thread.
  std::fputs(fmt::format("{{\"event\":\"{}\"}}\n", event).c_str(), stdout);
  std::fflush(stdout);
}

void Load::check(const Engine& chosen, const Protocol& chosen_protocol) {
  check_connect(connect, chosen);
  check_payload(chosen_protocol, payload);
  if (events && json.empty())
    throw UsageError("--events takes the place of the table: say --json FILE for the result");
  if (events && json == "-")
    throw UsageError("--events and --json - both write to standard output: say --json FILE for the result");
  if (json_option->given() && json != "-") {
    std::vector<std::string> files;  // a value may name one: --file, --output
    for (const auto& [name, value] : protocol.given) files.push_back(value);
    ensure_writable(json, files);
  }
  if (plan.turns && (!events || messages > 0 || duration->given()))
    throw UsageError("--turns needs --events, and neither -m nor -d: each turn has a length of its own");
  if (plan.turns && !chosen_protocol.takes_turns)
    throw UsageError(fmt::format("--turns: the connections of '{}' cannot rest", protocol.name));
  plan.connections = connections;
  schedule.complete(plan);
  if (messages == 0 && !duration->given() && !plan.turns) messages = chosen_protocol.standard_messages;
  if (messages > 0) plan.messages = messages;
  protocol.check(chosen_protocol, chosen.in_process, true);
  parameters = protocol.parameters(chosen_protocol, Role::dial);
  parameters.payload = payload;
}

std::vector<std::string> Load::remarks(const Engine& chosen) const {
  std::vector<std::string> remarks = engine.remarks(chosen);
  // A race (--events) gives its server a limit that fits.
  const Duration usual = Limits{}.idle, gap = longest_gap(plan);
  if (gap >= usual && !chosen.in_process && !events)
    remarks.push_back(fmt::format(
        "a connection may pause for {}: a server may close connections on which nothing moves for so long; "
        "'{} serve' does after {}, unless its --idle-timeout says more",
        format_duration(gap), program.name, format_duration(usual)));
  return remarks;
}

void Load::look_again(Time now) {
  used = own_usage() - before;
  used_over = now - opened_at;
}

// Takes what this process has used at both ends of the timed window, on the engine's own thread.
void Load::watch(LoadRun::Milestone milestone) {
  const std::lock_guard lock(watching);  // a milestone may be another thread's than the one before
  const Time now = Clock::now();
  switch (milestone) {
    case LoadRun::Milestone::started:
      return emit("connected");
    case LoadRun::Milestone::rested:
      return turns->end();
    case LoadRun::Milestone::opened:
      opened_at = now;
      before = own_times();
      return emit("measuring");
    case LoadRun::Milestone::closed:
      look_again(now);
      return emit("measured");
  }
}

LoadResult Load::measure(const Engine& chosen, const Protocol& chosen_protocol, const EngineOptions& options,
                         const Target* target) {
  // May take long, and can be interrupted: signals still end the program at once.
  Loading loading(chosen, chosen_protocol, plan, parameters,
                  protocol.parameters(chosen_protocol, Role::serve), tally);
  Stop stop;
  if (plan.turns) turns.emplace(loading.run());
  const Signals signals(stop, TurnTaking::begin);
  loading.run().observe([this](LoadRun::Milestone milestone) { watch(milestone); });
  loading.drive(options, limits, target, stop);
  // The window of a load that was interrupted, or lost all connections, ends with it.
  if (opened_at != Time{} && used_over == Duration{}) look_again(Clock::now());
  if (turns) {
    used = turns->used();
    used.peak_memory_bytes = own_usage().peak_memory_bytes;
    used_over = turns->used_over();
  }
  LoadResult result = loading.result(used, stop.requested() && !plan.turns);
  result.usage_s = std::chrono::duration<double>(used_over).count();
  return result;
}

// What went wrong, in one line that names the address once; empty where nothing did.
std::string Load::trouble(const LoadResult& result) const {
  std::string text = join(result.complaints, "; ");
  if (text.empty() && result.messages.verified == 0) {
    if (result.interrupted || !result.window)
      text = "nothing was measured: interrupted before a reply was verified";
    else
      text = fmt::format(
          "nothing was measured: no reply came within the timed window of {}; measure longer (-d)",
          format_duration(result.window->to - result.window->from));
  }
  const bool named = connect.empty() || result.errors[static_cast<std::size_t>(Stage::connect)] > 0;
  return text.empty() || named ? text : connect + ": " + text;
}

void Load::write_json(const LoadResult& result, const Engine& chosen, const EngineOptions& options,
                      const Target* target) {
  Json document{{"schema", "joust-load/1"}, {"protocol", protocol.name}, {"address", connect}};
  add_engine(document, chosen, options);
  document["build"] = build_json();
  document["socket"] = target ? to_json(target->facts()) : Json::object();
  add_load(document, result);
  document["plan"]["payload_bytes"] = payload;
  document["options"] = options_json(parameters.options);
  if (json == "-") {
    print_out(text_of(document, 2));
    return;
  }
  write_result(json, text_of(document, 2));
}

int Load::run() {
  const Protocol& chosen_protocol = protocol.resolve(program);
  engine.take_knobs(program, protocol.given);
  const Engine& chosen = engine.resolve(Role::dial, chosen_protocol);
  check(chosen, chosen_protocol);
  const EngineOptions options = engine.options(chosen);
  for (const std::string& remark : remarks(chosen)) complain(program, remark);
  pin(engine.cpus);
  if (!chosen.in_process) ensure_descriptors("-c", plan.connections);
  raise_descriptor_limit();

  std::optional<Target> target;
  if (!chosen.in_process) {
    std::vector<Endpoint> endpoints = resolved_target(connect);
    socket.settle_congestion(endpoints.front(), tally);
    const auto sources = sources_for(endpoints.front(), plan.connections, local_ports());
    if (!sources) throw UsageError("-c: " + sources.error());
    target.emplace(connect, std::move(endpoints), socket.options);
    target->spread_over(*sources);
  }
  const Target* const whom = target ? &*target : nullptr;
  const LoadResult result = measure(chosen, chosen_protocol, options, whom);
  // Where nobody could be reached there is nothing to tell but why.
  const bool reached = result.connections_ok > 0 || result.messages.sent > 0;
  if (!json.empty()) write_json(result, chosen, options, whom);  // first: standard output may be gone
  if (const std::string text = trouble(result); !text.empty()) complain(program, text);
  if (reached && !events && json != "-")
    print_out(fmt::format("{} on {}\n{}", protocol.name, chosen.name, load_text(result)));
  emit("done");
  return result.clean() ? kOk : kRunError;
}

}  // namespace

void add_load(Command root, const Program& program, int& exit_code) {
  auto load = std::make_shared<Load>(program);
  Command command = root.add_command("load", "Load a server, verify every reply and measure");
  load->engine.add_to(command);
  load->protocol.add_to(command, program, Role::dial);
  command
      .add_option("--connect", load->connect,
                  "whom to load: 127.0.0.1:9000, [::1]:9000, host:9000, unix:PATH")
      .type_name("ADDRESS");
  add_count(command, "-c,--connections", load->connections, "how many, open all the while [1]", 1, 1'000'000);
  const Option messages =
      add_count(command, "-m,--messages", load->messages, "messages of each connection; ends the load");
  load->duration = add_duration(command, "-d,--duration", load->plan.duration,
                                "time to measure; ends the load [10s]", std::chrono::milliseconds(1))
                       .excludes(messages);
  add_duration(command, "-w,--warmup", load->plan.warmup, "the same traffic before, not measured [0]");
  load->schedule.add_to(command, load->plan);
  add_count(command, "--depth", load->plan.depth, "requests a connection may have outstanding [1]", 1,
            100'000);
  add_bytes(command, "--payload", load->payload, "size of a message, without framing [32]", 1);
  add_duration(command, "--connect-timeout", load->limits.connect,
               "give a connection up that takes longer [10s]", std::chrono::milliseconds(1));
  add_duration(command, "--request-timeout", load->plan.request_timeout,
               "give a request up that takes longer [5s]", std::chrono::milliseconds(1));
  add_duration(command, "--idle-timeout", load->limits.idle,
               "close a connection on which nothing moves, beside the pauses of -i [60s]",
               std::chrono::milliseconds(1));
  load->json_option = command.add_option("--json", load->json, "write the result to this file; - prints it")
                          .type_name("FILE");
  command.add_flag("--events", load->events,
                   "print a JSON line at each stage of the run, not the table; needs --json FILE");
  command.add_flag("--turns", load->plan.turns,
                   "rest, and send only in the turns that SIGUSR1 begins (its value: microseconds); needs "
                   "--events, ends with SIGTERM");
  load->socket.add_to(command);
  command.footer(load_examples(program));
  command.callback([load, &exit_code] { exit_code = load->run(); });
}

}  // namespace joust
