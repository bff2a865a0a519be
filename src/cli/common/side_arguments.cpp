// SPDX-License-Identifier: MIT
#include "cli/common/side_arguments.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/fields.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/common/arguments.hpp"
#include "engines/engine_choice.hpp"
#include "hosting/options.hpp"
#include "measure/affinity.hpp"
#include "plugins/plugin_file.hpp"

namespace joust {
namespace {

Wait wait_of(const std::string& word) {
  return value_of_word<Wait>(word).value_or(Wait::block);
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

// Returns the meanings of an option in the protocols that have one of that name.
std::string help_of(const std::string& name, const Program& program) {
  std::vector<std::string> meanings;
  for (const Protocol* protocol : program.all_protocols())
    for (const ProtocolOption& option : protocol->options) {
      const std::string standard = option.standard.empty() ? "" : fmt::format(" [{}]", option.standard);
      if (option.name == name)
        meanings.push_back(fmt::format("{}: {}{}", protocol->name, option.summary, standard));
    }
  return join(meanings, "; ");
}

// Returns the row by which values of an option are read, of those of all protocols that have one of that
// name: the one that takes a file, if there is one. Which protocol is spoken is not known yet.
const ProtocolOption& row_that_reads(const ProtocolOption& first, const Program& program) {
  for (const Protocol* protocol : program.all_protocols())
    for (const ProtocolOption& option : protocol->options)
      if (option.name == first.name && option.from_file != ProtocolOption::FromFile::no) return option;
  return first;
}

bool is_switch(const ProtocolOption& option) {
  return option.choices == std::vector<std::string>{"no", "yes"};
}

}  // namespace

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

void pin(const std::string& cpus) {
  if (cpus.empty()) return;
  const auto list = parse_cpus(cpus, allowed_cpus());
  if (!list) throw UsageError("--cpus: " + list.error());
  pin_to(*list);
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

void ProtocolArguments::add_to(Command command, const Program& program, Role side) {
  name = program.protocols.front().name;
  name_option = command
                    .add_option("-p,--protocol", name,
                                fmt::format("the protocol that is spoken; see '{} protocols'; or the "
                                            "path of a plug-in, with a '/'",
                                            program.name))
                    .type_name("PROTOCOL")
                    .show_default();
  add_options_to(command, program, side);
}

void ProtocolArguments::add_options_to(Command command, const Program& program, std::optional<Role> side) {
  std::set<std::string> known;
  for (const Protocol* protocol : program.all_protocols())
    for (const ProtocolOption& first : protocol->options) {
      if (!known.insert(first.name).second) continue;
      const ProtocolOption& option = row_that_reads(first, program);
      const auto take = [this, &option, is_switch = is_switch(option)](const std::string& value) {
        if (value.empty() && !is_switch)
          throw UsageError(fmt::format("--{}: the value is empty", option.name));
        const auto read = read_value(option, value);
        if (!read) throw UsageError(fmt::format("--{}: {}", option.name, read.error()));
        std::string& set = given[option.name];
        if (!option.is_list) set.clear();
        if (!set.empty()) set += '\n';
        set += is_switch && value.empty() ? "yes" : *read;
        return std::string();
      };
      const std::string help = help_of(option.name, program), flag = "--" + option.name;
      Option added =
          option.is_list ? command.add_list(flag, take, help) : command.add_option(flag, take, help);
      const bool shown = !side || (*side == Role::serve ? option.serves : option.loads);
      added.group(shown ? kProtocolOptions : "");
      if (is_switch(option))
        added.value_optional().type_name("[no|yes]");  // check_options() refuses other values
      else if (!option.choices.empty())
        added.one_of(option.choices);
    }
}

void ProtocolArguments::take_stored(const Protocol& protocol, const Settings& stored) {
  // JSON is UTF-8, and a document has this character for each byte that is not.
  constexpr std::string_view kReplaced = "\xEF\xBF\xBD";
  for (const auto& [option_name, value] : given) {
    const auto found = stored.find(option_name);
    const std::string own = found == stored.end() ? "" : found->second;  // a result leaves empty values out
    if (own != value && !own.contains(kReplaced))
      throw UsageError(fmt::format("--plan has the options of the protocol: leave --{} out", option_name));
  }
  for (const auto& [option_name, value] : stored) {
    const auto option = std::ranges::find(protocol.options, option_name, &ProtocolOption::name);
    const bool is_known = option != protocol.options.end();
    if ((is_known && value == option->standard) || given.contains(option_name)) continue;
    if (value.contains(kReplaced))
      throw UsageError(fmt::format(
          "--plan: the value of --{0} has bytes that are no text, which the result lacks: say --{0} too",
          option_name));
    given[option_name] = value;
  }
}

const Protocol& ProtocolArguments::resolve(const Program& program) const {
  return resolve_protocol(program, name);
}

void ProtocolArguments::check(const Protocol& protocol, bool serves, bool loads) const {
  check_options(protocol, given, serves, loads);
}

Parameters ProtocolArguments::parameters(const Protocol& protocol, Role side) const {
  return parameters_of(protocol, given, side);
}

}  // namespace joust
