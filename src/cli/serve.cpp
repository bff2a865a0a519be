// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string_view>

#include "base/check.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/arguments.hpp"
#include "cli/common/descriptors.hpp"
#include "cli/common/output.hpp"
#include "cli/common/side_arguments.hpp"
#include "cli/common/signals.hpp"
#include "connection/tally.hpp"
#include "hosting/accounting.hpp"
#include "hosting/options.hpp"
#include "joust/time.hpp"
#include "measure/usage.hpp"
#include "net/listener.hpp"
#include "report/facts_json.hpp"

namespace joust {
namespace {

// Reads a file of /proc, as far as it fits into the buffer.
std::string_view read_into(std::span<char> buffer, const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::size_t size = 0;
  for (;;) {
    const ssize_t got =
        retry_interrupted([&] { return ::read(file, buffer.data() + size, buffer.size() - size); });
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  ::close(file);
  return {buffer.data(), size};
}

// Writes one JSON line to the standard output: the usage so far of this process and of those that it has
// waited for, and the time. The peak of memory is that of this process, and 0 if `value` is kTimesOnly
// (measure/usage.hpp). The function is async-signal-safe: it takes no lock and allocates no memory.
// Formats integers only: the formatting of floating point numbers may allocate memory.
void write_usage_event(int value) noexcept {
  rusage used{}, ended{};
  ::getrusage(RUSAGE_SELF, &used);
  ::getrusage(RUSAGE_CHILDREN, &ended);
  timeradd(&used.ru_utime, &ended.ru_utime, &used.ru_utime);
  timeradd(&used.ru_stime, &ended.ru_stime, &used.ru_stime);
  const Time at = Clock::now();
  std::array<char, 4096> status, rollup;
  std::uint64_t peak = 0;
  if (value != kTimesOnly)
    peak = peak_memory(read_into(status, "/proc/self/status"), read_into(rollup, "/proc/self/smaps_rollup"));
  std::array<char, 512> line;
  const auto end = fmt::format_to_n(
      line.data(), line.size(),
      R"({{"event":"usage","at_ns":{},"usage":{{"cpu_user_s":{}.{:06},"cpu_system_s":{}.{:06},)"
      R"("voluntary_switches":{},"involuntary_switches":{},"peak_memory_bytes":{}}}}})"
      "\n",
      at.time_since_epoch() / Duration(1), used.ru_utime.tv_sec, used.ru_utime.tv_usec, used.ru_stime.tv_sec,
      used.ru_stime.tv_usec, used.ru_nvcsw + ended.ru_nvcsw, used.ru_nivcsw + ended.ru_nivcsw, peak);
  const std::string_view text(line.data(), end.size);
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
}

using Json = nlohmann::ordered_json;

std::string serve_examples(const Program& program) {
  return fmt::format(R"(Examples:
  {0} serve -e epoll -p {1} --listen 127.0.0.1:9000
  {0} serve -e epoll:trigger=level -p {1} -t 2 --listen '[::1]:9000'
  {0} serve -e io-uring -p {1} --listen unix:/tmp/{0}.sock --cpus 0

Says on a terminal that it listens, and in the end what it has served. Elsewhere, and with --json, both are
JSON lines; SIGUSR1 prints one more, with what it has used so far.
SIGTERM and Ctrl-C drain: no new connections, what was begun is finished. A second one ends at once,
or after 3 s where a message takes longer to compute.)",
                     program.name, program.protocols.front().name);
}

struct Serve {
  const Program& program;
  EngineArguments engine{};
  SocketArguments socket{};
  Limits limits{};
  std::uint64_t most_connections = Limits{}.connections;
  std::uint64_t backlog = static_cast<std::uint64_t>(SocketOptions{}.backlog);
  ProtocolArguments protocol{};
  std::string listen = "127.0.0.1:0";
  std::optional<Option> listen_option{};
  bool is_public = false;
  std::string json{};  // "-", as for other commands, or empty
  std::optional<Option> json_option{};

  void run();
  void check_json() const;
  bool speaks_to_people() const { return !json_option->given() && ::isatty(STDOUT_FILENO) == 1; }
  std::string greeting(const Engine& chosen, const Protocol& spoken, const Listeners& listeners) const;
  std::string farewell(const Tally& tally) const;
  Listeners open_listeners(std::span<const Endpoint> where, Transport transport, Tally& tally);
  Json listening(const Engine& chosen, const EngineOptions& options, const Listeners& listeners,
                 const Tally& tally);
};

void print(const Json& event) {
  print_out(text_of(event));
}

Listeners Serve::open_listeners(std::span<const Endpoint> where, Transport transport, Tally& tally) {
  for (const Endpoint& endpoint : where) socket.settle(endpoint, transport, tally);
  Listeners listeners(where, socket.options, transport);
  for (const std::string& address : listeners.left_out()) {
    complain(program, "not listening on " + address);
    tally.note("not listening on " + address);
  }
  return listeners;
}

// Returns the event of the engine's start. `missing` has the features that are known by then; features that
// the engine misses later are in `stopped`.
Json Serve::listening(const Engine& chosen, const EngineOptions& options, const Listeners& listeners,
                      const Tally& tally) {
  Json event{{"event", "listening"},
             {"address", listeners.addresses().front()},
             {"addresses", listeners.addresses()},
             {"protocol", protocol.resolve(program).name},
             {"pid", ::getpid()}};
  add_engine(event, chosen, options);
  event["options"] = options_json(protocol.parameters(protocol.resolve(program), Role::serve).options);
  event["build"] = build_json();
  event["socket"] = to_json(listeners.facts());
  event["missing"] = tally.missing();
  return event;
}

void Serve::check_json() const {
  if (json.empty() || json == "-") return;
  throw UsageError(fmt::format(
      "--json {0}: a server has no result at its end; its JSON lines go to standard output: > {0}", json));
}

// Returns the greeting: "listening on 127.0.0.1:9000 (epoll, echo)". For http it has the URL that a browser
// takes.
std::string Serve::greeting(const Engine& chosen, const Protocol& spoken, const Listeners& listeners) const {
  std::vector<std::string> where;
  for (const std::string& address : listeners.addresses()) {
    const bool has_url = !spoken.url_scheme.empty() && !address.starts_with("unix:");
    where.push_back(has_url ? fmt::format("{}://{}/", spoken.url_scheme, address) : address);
  }
  return fmt::format("listening on {} ({}, {})\n", join(where, " and "), chosen.name, spoken.name);
}

std::string Serve::farewell(const Tally& tally) const {
  return fmt::format("stopped after {}: {} bytes received, {} sent\n",
                     counted(tally.opened + tally.unopened, "connection"), grouped(tally.received),
                     grouped(tally.sent));
}

void Serve::run() {
  check_json();
  const Protocol& chosen_protocol = protocol.resolve(program);
  engine.take_knobs(program, protocol.given, socket);
  protocol.check(chosen_protocol, true, false);
  const Engine& chosen = engine.resolve(Role::serve, chosen_protocol);
  Parameters parameters = protocol.parameters(chosen_protocol, Role::serve);
  check_demands(chosen, chosen_protocol, parameters, nullptr);
  if (is_public) check_long_work(chosen, chosen_protocol, parameters, protocol.given);
  if (chosen_protocol.check_server) chosen_protocol.check_server(parameters);
  const EngineOptions options = engine.options(chosen);
  for (const std::string& remark : engine.remarks(chosen)) complain(program, remark);
  pin(engine.cpus);
  limits.connections = most_connections;
  socket.options.backlog = static_cast<int>(backlog);
  raise_descriptor_limit();

  if (is_public && !listen_option->given() && chosen.group.empty())
    throw UsageError(
        fmt::format("--public allows what --listen asks for: say --listen ADDRESS too, such as {}",
                    chosen.transport == Transport::datagram ? "192.0.2.1:9000" : "0.0.0.0:9000"));
  if (!listen_option->given()) listen = chosen.listens_at();
  const std::vector<Endpoint> where = checked_listen(listen, is_public, chosen, options.knobs);
  parameters.on_loopback = std::ranges::all_of(where, is_local);
  // Making the service may take long, and can be interrupted: signals still end the program at once.
  const auto service = chosen_protocol.make_server(parameters);
  Stop stop;
  const Signals signals(stop, write_usage_event);
  Tally tally;
  const Listeners listeners = open_listeners(where, chosen.transport, tally);
  Accounting accounting(chosen, options.threads, limits, tally);
  chosen.run({.service = *service,
              .options = options,
              .limits = limits,
              .tally = tally,
              .listeners = listeners.all(),
              .on_ready =
                  [&] {
                    check_first_connection(chosen);
                    if (speaks_to_people())
                      print_text(greeting(chosen, chosen_protocol, listeners));
                    else
                      print(listening(chosen, options, listeners, tally));
                  },
              .account = accounting.account(),
              .chore = accounting.chore()},
             stop);
  if (speaks_to_people()) {
    print_list(for_people(farewell(tally)));
    complain_of_failures(program, tally);
    return;
  }
  std::vector<ResultGroup> groups = service->results();
  if (chosen.delivery.by_message()) groups.push_back(tally.datagrams_group());
  print_list(text_of(stopped_event(tally, listeners, groups)));
}

}  // namespace

void add_serve(Command root, const Program& program, int& /*exit_code*/) {
  auto serve = std::make_shared<Serve>(program);
  Command command = root.add_command("serve", "Serve a protocol with an engine until told to stop");
  serve->engine.add_to(command);
  serve->protocol.add_to(command, program, Role::serve);
  serve->listen_option =
      command
          .add_option(
              "--listen", serve->listen,
              "the address: 127.0.0.1:9000, [::1]:9000, host:9000 (all its addresses), *:9000 (every address "
              "of this machine), :0 (any free port), unix:PATH")
          .type_name("ADDRESS")
          .show_default();
  command.add_flag("--public", serve->is_public, "allow an address that other machines can reach");
  add_count(command, "--max-connections", serve->most_connections,
            "open at once; beyond, who has most gives way [16000]", 1, 1'000'000);
  add_memory_limit(command, serve->limits.memory);
  add_count(command, "--backlog", serve->backlog, "connections waiting to be accepted [4096]", 1, 1'000'000);
  add_duration(command, "--idle-timeout", serve->limits.idle,
               "close a connection on which nothing moves [60s]", std::chrono::milliseconds(1));
  add_duration(command, "--drain", serve->limits.drain,
               "how long a stop may take, beside what is being computed [2s]");
  serve->json_option = command.add_option("--json", serve->json, "print JSON lines on a terminal too")
                           .value_optional()
                           .type_name("[-]");
  serve->socket.add_to(command);
  command.first_options({"--engine", "--threads", "--protocol", "--listen", "--public", "--cpus",
                         "--max-connections", "--max-memory", "--idle-timeout", "--json"});
  command.footer(serve_examples(program));
  command.callback([serve] { serve->run(); });
}

}  // namespace joust
