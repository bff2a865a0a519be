// SPDX-License-Identifier: MIT
#include "cli/common/arguments.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/fields.hpp"
#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "engines/engine_choice.hpp"
#include "hosting/options.hpp"
#include "measure/affinity.hpp"
#include "plugins/plugin_file.hpp"

namespace joust {
namespace {

constexpr bool is_unlimited(std::uint64_t most) {
  return most == UINT64_MAX;
}
constexpr bool is_unlimited(Duration /*most*/) {
  return false;
}

Wait wait_of(const std::string& word) {
  return value_of_word<Wait>(word).value_or(Wait::block);
}

// Returns what is wrong with a number that has a unit; empty if it is between its limits, and taken.
template <typename Into, typename Value, typename Parse, typename Format>
std::string take_scaled(const std::string& text, Into& into, Value least, Value most, Parse parse,
                        Format format) {
  const auto value = parse(text);
  const bool is_beyond = !value && value.error().ends_with(kTooLarge);
  if (!value && (!is_beyond || is_unlimited(most))) return value.error();
  if (is_beyond || *value < least || *value > most)
    return fmt::format("{} is not between {} and {}", text, format(least), format(most));
  into = *value;
  return {};
}

template <typename Into, typename Value, typename Parse, typename Format>
Option add_scaled(Command command, const std::string& flags, Into& into, const std::string& help, Value least,
                  Value most, Parse parse, Format format) {
  const auto take = [&into, least, most, parse, format](const std::string& text) {
    return take_scaled(text, into, least, most, parse, format);
  };
  return command.add_option(flags, take, help);
}

std::string plain(std::uint64_t number) {
  return fmt::format("{}", number);
}

// Returns every knob of every engine, once.
std::vector<Knob> all_knobs() {
  std::vector<Knob> knobs;
  for (const Engine* engine : engines())
    for (const Knob& knob : engine->knobs)
      if (std::ranges::find(knobs, knob.name, &Knob::name) == knobs.end()) knobs.push_back(knob);
  return knobs;
}

// Returns whether any protocol of the program has an option of that name.
bool has_option(const Program& program, const std::string& name) {
  return std::ranges::any_of(program.all_protocols(), [&](const Protocol* protocol) {
    return std::ranges::find(protocol->options, name, &ProtocolOption::name) != protocol->options.end();
  });
}

}  // namespace

Option add_count(Command command, const std::string& flags, std::uint64_t& into, const std::string& help,
                 std::uint64_t least, std::uint64_t most) {
  return add_scaled(command, flags, into, help, least, most, parse_count, plain).type_name("N");
}

Option add_bytes(Command command, const std::string& flags, std::uint64_t& into, const std::string& help,
                 std::uint64_t least, std::uint64_t most) {
  return add_scaled(command, flags, into, help, least, most, parse_bytes, format_size).type_name("BYTES");
}

void add_memory_limit(Command command, std::optional<std::uint64_t>& into) {
  constexpr auto kHelp =
      "for connections (for the values of resp: --maxmemory), beyond what the server has at its start; "
      "above, connections are ended: those that use most, of the address that uses most [a quarter of what "
      "is available]";
  add_scaled(command, "--max-memory", into, kHelp, std::uint64_t{1 << 20}, std::uint64_t{1} << 50,
             parse_bytes, format_size)
      .type_name("BYTES");
}

Option add_rate(Command command, const std::string& flags, double& into, const std::string& help) {
  const auto take = [&into](const std::string& text) -> std::string {
    const auto rate = parse_rate(text);
    if (rate) into = *rate;
    return rate ? "" : rate.error();
  };
  return command.add_option(flags, take, help).type_name("RATE");
}

Option add_duration(Command command, const std::string& flags, Duration& into, const std::string& help,
                    Duration least, Duration most) {
  return add_scaled(command, flags, into, help, least, most, parse_duration, format_duration)
      .type_name("TIME");
}

std::string objection_to_count(const std::string& text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  return take_scaled(text, number, least, most, parse_count, plain);
}

std::string objection_to_duration(const std::string& text, Duration least, Duration most) {
  Duration time{};
  return take_scaled(text, time, least, most, parse_duration, format_duration);
}

void EngineArguments::add_to(Command command) {
  engine_option_ =
      command
          .add_option(
              "-e,--engine", engine,
              fmt::format("how to drive the sockets, see '{} engines'; a knob may be part of the name: "
                          "epoll:trigger=level",
                          command.program()))
          .type_name("NAME")
          .show_default();
  flags_.emplace("threads",
                 add_count(command, "-t,--threads", threads,
                           "event loops or workers, for engines that have several [1]", 0,
                           UINT64_MAX));  // resolve() checks it: not all engines have the same limits
  flags_.emplace(
      "wait", command
                  .add_option("--wait", wait,
                              "when nothing is ready: block, spin, or spin a while and then block (adaptive)")
                  .one_of({"block", "spin", "adaptive"})
                  .show_default());
  for (const Knob& knob : all_knobs()) {
    const std::string name(knob.name);
    const auto take = [this, name](const std::string& value) {
      knobs[name] = value;
      return std::string();
    };
    Option added =
        command.add_option("--" + name, take, fmt::format("{} [{}]", knob.summary, knob.choices.front()));
    if (knob.any_text)
      added.type_name("NAME");
    else
      added.one_of({knob.choices.begin(), knob.choices.end()});
  }
  command.add_option("--cpus", cpus, "run on these CPUs only: 0, or 0-1,3").type_name("LIST");
}

void EngineArguments::take_knobs(const Program& program, Settings& options, SocketArguments& socket) {
  if (!engine.contains(':')) return;
  const std::string given = std::exchange(engine, engine.substr(0, engine.find(':')));
  const Engine* const chosen = find_engine(engine);
  if (chosen == nullptr) return;  // resolve() reports it, with the nearest name
  const auto refuse = [&](const std::string& what) {
    throw UsageError(fmt::format("-e {}: {}", given, what));
  };
  const auto settings = settings_of_text(given);
  if (!settings) refuse(settings.error());
  const auto is_option = [&](const std::string& name) { return has_option(program, name); };
  EngineChoice choice{.engine = engine, .threads = threads, .wait = wait};
  for (const auto& [knob, value] : *settings) {
    const auto flag = flags_.find(knob);
    if (knobs.contains(knob) || options.contains(knob) || (flag != flags_.end() && flag->second.given()) ||
        (knob == "nodelay" && socket.nodelay_chosen))
      refuse(fmt::format("'{}' is given twice, here and as --{}; give it once", knob, knob));
    if (knob == "transport") refuse("transport is of a race: here the address has it, as in unix:PATH");
    if (const auto set = set_knob(choice, knob, value, *chosen, is_option); !set) refuse(set.error());
  }
  threads = choice.threads;
  wait = choice.wait;
  if (choice.nodelay) socket.options.nodelay = *choice.nodelay;
  knobs.insert(choice.knobs.begin(), choice.knobs.end());
  options.insert(choice.options.begin(), choice.options.end());
}

void EngineArguments::take_stored(const std::string& stored_engine, std::uint64_t stored_threads,
                                  const std::string& stored_wait, const Settings& stored_knobs) {
  if (engine_option_->given()) return;
  engine = stored_engine;
  if (!flags_.at("threads").given()) threads = stored_threads;
  if (!flags_.at("wait").given()) wait = stored_wait;
  const Engine* const chosen = find_engine(engine);
  if (chosen == nullptr) {  // which is refused later
    knobs.insert(stored_knobs.begin(), stored_knobs.end());
    return;
  }
  const EngineOptions stored =
      with_standards(*chosen, static_cast<unsigned>(threads), wait_of(wait), stored_knobs);
  for (const auto& [name, value] : stored_knobs) {
    // A result has the values that other choices decide, and nobody has given them.
    if (chosen->decided != nullptr && !chosen->decided(name, stored).by.empty()) continue;
    const auto is_standard = [&](const Knob& knob) {
      return knob.name == name && knob.choices.front() == value;
    };
    if (std::ranges::none_of(chosen->knobs, is_standard)) knobs.emplace(name, value);
  }
}

const Engine& EngineArguments::resolve(Role role, const Protocol& protocol) const {
  const Engine& chosen = checked_engine(engine, knobs, role, protocol);
  check_threads(chosen, threads);
  return chosen;
}

EngineOptions EngineArguments::options(const Engine& chosen) const {
  return engine_options(chosen, static_cast<unsigned>(threads), wait_of(wait), knobs);
}

std::vector<std::string> EngineArguments::remarks(const Engine& chosen) const {
  std::vector<std::string> remarks;
  if (threads > 1 && !chosen.several_loops)
    remarks.push_back(
        fmt::format("--threads {} means nothing to '{}': it has {}", threads, engine, chosen.threads));
  if (wait != "block" && !chosen.wait_ignored.empty())
    remarks.push_back(fmt::format("--wait {} means nothing to '{}': {}", wait, engine, chosen.wait_ignored));
  return remarks;
}

void SocketArguments::add_to(Command command) {
  const auto group = "TCP options";
  const auto take_nodelay = [this](const std::string& value) {
    options.nodelay = value == "on";
    nodelay_chosen = true;
    return std::string();
  };
  command.add_option("--nodelay", take_nodelay, "send small messages at once (TCP_NODELAY) [on]")
      .one_of({"on", "off"})
      .group(group);
  const auto take_congestion = [this](const std::string& name) {
    options.congestion = name;
    congestion_chosen = true;
    return std::string();
  };
  command
      .add_option("--congestion", take_congestion,
                  fmt::format("congestion control; '': the machine's default [{}]", options.congestion))
      .type_name("NAME")
      .group(group);
  const auto add_buffer = [&](const std::string& flags, int& into, const std::string& help) {
    const auto take = [&into](const std::string& text) -> std::string {
      const auto bytes = parse_bytes(text);
      if (!bytes) return bytes.error();
      if (*bytes > 1U << 30) return "at most 1 GiB";
      into = static_cast<int>(*bytes);
      return {};
    };
    command.add_option(flags, take, help).type_name("BYTES").group(group);
  };
  add_buffer("--send-buffer", options.send_buffer, "SO_SNDBUF [the kernel's choice]");
  add_buffer("--receive-buffer", options.receive_buffer, "SO_RCVBUF [the kernel's choice]");
}

void SocketArguments::take_stored(std::optional<bool> nodelay, const std::optional<std::string>& congestion) {
  if (nodelay && !nodelay_chosen) options.nodelay = *nodelay;
  if (congestion && !congestion_chosen) options.congestion = *congestion;
}

void SocketArguments::settle(const Endpoint& endpoint, Transport transport, Tally& tally) {
  settle_socket(options, congestion_chosen, endpoint, transport, tally);
  const bool is_unix = endpoint.family() == AF_UNIX;
  if ((transport == Transport::datagram || is_unix) && (nodelay_chosen || congestion_chosen))
    throw UsageError(fmt::format(
        "--{} is an option of TCP, and {}: leave it out", nodelay_chosen ? "nodelay" : "congestion",
        is_unix ? "a socket with a path is none" : "the engine's sockets are of UDP"));
}

std::string SocketArguments::given() const {
  if (nodelay_chosen) return "--nodelay";
  if (congestion_chosen) return "--congestion";
  if (options.send_buffer > 0) return "--send-buffer";
  return options.receive_buffer > 0 ? "--receive-buffer" : "";
}

const Protocol& resolve_protocol(const Program& program, const std::string& name) {
  if (is_plugin_path(name)) {
    const auto plugin = load_plugin(name);
    if (!plugin) throw UsageError(plugin.error());
    return **plugin;
  }
  if (const Protocol* found = program.find_protocol(name)) return *found;
  std::vector<std::string> names;
  for (const Protocol& protocol : program.protocols) names.push_back(protocol.name);
  throw UsageError(fmt::format("no protocol '{}'; {}{}", name, suggestion(name, names), plugin_hint(name)));
}

void pin(const std::string& cpus) {
  if (cpus.empty()) return;
  const auto list = parse_cpus(cpus, allowed_cpus());
  if (!list) throw UsageError("--cpus: " + list.error());
  pin_to(*list);
}

void raise_descriptor_limit() {
  rlimit limit = descriptor_limit();
  limit.rlim_cur = limit.rlim_max;
  checked(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit(RLIMIT_NOFILE, {})", limit.rlim_max);
}

void ensure_descriptors(const std::string& where, std::uint64_t connections, const Engine& client) {
  constexpr std::uint64_t kOthers = 64;  // the loops' own files, and those open at the process's start
  const std::uint64_t dials = std::min<std::uint64_t>(connections, Limits{}.dials_at_once);
  const std::uint64_t needed = client.files_each * connections + client.files_of_dial * dials + kOthers;
  const std::uint64_t most = descriptor_limit().rlim_max;
  if (needed <= most) return;
  throw UsageError(fmt::format(
      "{}: {} connections need about {} open files, and a process may have {} here; raise that limit "
      "(ulimit -Hn) or ask for fewer connections",
      where, connections, needed, most));
}

}  // namespace joust
