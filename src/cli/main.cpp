// SPDX-License-Identifier: MIT
#include "joust/main.hpp"
#include "cli/common/side_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "cli/hosts/cluster.hpp"
#include "hosting/options.hpp"
#include "plugins/plugin_file.hpp"

namespace joust {
namespace {

std::string root_examples(const Program& program) {
  return fmt::format(R"(Examples:{2}
  {0} race --server threads,epoll --client epoll -p {1} -c 1000 -d 2s
  {0} serve -e epoll -p {1} --listen 127.0.0.1:9000
  {0} load -e epoll -p {1} --connect 127.0.0.1:9000 -c 100 -d 5s)",
                     program.name, program.protocols.front().name,
                     program.has_scenarios() ? fmt::format("\n  {} race first-look", program.name) : "");
}

int fail(const Program& program, ExitCode code, std::string_view what) {
  complain(program, what);
  return code;
}

// Returns a hint to append to an error; empty without one.
std::string hint_of(const std::system_error& error) {
  const int number = error.code().value();
  if (!std::string_view(error.what()).starts_with("bind(")) return limit_behind(number);
  if (number == EADDRINUSE)
    return std::string_view(error.what()).starts_with("bind(unix:")
               ? " (another program listens there: end it, or choose another path)"
               : " (another program listens there: choose another port, or 0 for any that is free)";
  if (number == EADDRNOTAVAIL) return " (no interface of this machine has this address)";
  if (number == EACCES) return " (where it is a port below 1024, only root may: choose a greater one)";
  return limit_behind(number);
}

// Refuses an unknown sub-command: CLI11 would only report that a sub-command is required.
// `about`: the next word, if there is one.
void refuse_unknown_command(const std::string& program, const std::vector<std::string>& names,
                            std::string_view word, std::string_view about) {
  if (word.starts_with('-')) return;
  if (std::ranges::find(names, word) != names.end()) return;
  if (word == "help")
    throw UsageError(fmt::format("no command 'help'; say '{0} --help', or '{0} {1} --help'", program,
                                 about.empty() ? "COMMAND" : about));
  if (word == "version") throw UsageError(fmt::format("no command 'version'; say '{} --version'", program));
  throw UsageError(fmt::format("no command '{}'; {}", word, suggestion(word, names)));
}

}  // namespace

void complain(const Program& program, std::string_view what) {
  print_to_stderr(fmt::format("{}: {}\n", program.name, printable(what, "\n\\")));
}

const Protocol* Program::find_protocol(std::string_view wanted) const {
  const std::vector<const Protocol*> all = all_protocols();
  const auto found = std::ranges::find(all, wanted, &Protocol::name);
  return found == all.end() ? nullptr : *found;
}

std::vector<const Protocol*> Program::all_protocols() const {
  std::vector<const Protocol*> all = loaded_plugins();
  for (const Protocol& protocol : protocols) all.push_back(&protocol);
  return all;
}

namespace {

// Returns the protocols that the words name as -p NAME or --protocol NAME, of a command that has this option.
std::vector<std::string> named_protocols(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 3> kCommands{"serve", "load", "race"};
  std::vector<std::string> names;
  if (words.size() < 2 || std::ranges::find(kCommands, words[1]) == kCommands.end()) return names;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-p" || word == "--protocol")
      names.push_back(i + 1 < words.size() ? words[i + 1] : "");
    else if (word.starts_with("--protocol="))
      names.push_back(word.substr(word.find('=') + 1));
    else if (word.starts_with("-p"))
      names.push_back(word.substr(2));
  }
  return names;
}

// Loads the plug-ins among these protocols, because the options of a command must be known before it is
// parsed. A plug-in that cannot be used is reported when the protocol is chosen.
void load_plugins(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (is_plugin_path(name)) static_cast<void>(load_plugin(name));
}

// Shows the options of a named protocol in the command's --help.
void show_options(CommandLine& line, const std::string& command, const Protocol& protocol) {
  std::vector<std::string> flags;
  for (const ProtocolOption& option : protocol.options) flags.push_back("--" + option.name);
  line.also_show(command, flags);
}

using AddCommand = void (*)(Command root, const Program& program, int& exit_code);

// Returns the commands in the order of --help, by their names.
std::vector<std::pair<std::string_view, AddCommand>> commands_of(const Program& program) {
  std::vector<std::pair<std::string_view, AddCommand>> commands{
      {"race", add_race},    {"report", add_report},   {"compare", add_compare},
      {"merge", add_merge},  {"history", add_history}, {"serve", add_serve},
      {"load", add_load},    {"engines", add_engines}, {"protocols", add_protocols},
      {"doctor", add_doctor}};
  if (program.has_scenarios())
    commands.insert(commands.end(), {{"advise", add_advise}, {"scenarios", add_scenarios}});
  if (program.find_protocol("file") != nullptr)
    commands.insert(commands.end(),
                    {{"receive", add_receive}, {"send", add_send}, {"get", add_get}, {"list", add_list}});
  return commands;
}

// Adds the command that is called. Adding all of them takes longer than the program needs otherwise, so they
// are added only where their names or texts are needed: for the list of commands, an unknown one and manuals.
// Options of protocols from elsewhere may have the name of an option of any command, which adding it refuses.
void add_commands(Command root, const Program& program, const CommandLine& line, int& exit_code) {
  const std::string_view called = program.words.size() > 1 ? std::string_view(program.words[1]) : "";
  if (called == "--version") return;
  const auto commands = commands_of(program);
  const bool from_elsewhere = !loaded_plugins().empty() || !program.has_scenarios();
  for (const auto& [name, add] : commands)
    if (name == called && !from_elsewhere) return add(root, program, exit_code);
  for (const auto& [name, add] : commands) add(root, program, exit_code);
  add_manual(root, program, line);
}

}  // namespace

int main(int argc, char** argv, std::vector<Protocol> protocols) {
  // A closed peer is an error of the next send to it, and a file that may not grow is an error of the write.
  // Neither ends the program.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  ::sigaction(SIGXFSZ, &ignore, nullptr);
  Program program{
      std::filesystem::path(argv[0]).filename().string(), std::move(protocols), {argv, argv + argc}};
  CommandLine line(program.name, "One protocol on every I/O engine, raced side by side on your own machine.",
                   version_of(program));
  Command root = line.program();
  root.footer(root_examples(program));
  int exit_code = kOk;
  try {
    if (const auto code = join_hosts(program)) return *code;
    const std::vector<std::string> named = named_protocols(program.words);
    load_plugins(named);
    add_commands(root, program, line, exit_code);
    for (const std::string& name : named)
      if (!name.empty()) show_options(line, program.words[1], resolve_protocol(program, name));
    if (argc == 1) {
      print_to_stderr(line.help());
      return kUsage;
    }
    refuse_unknown_command(program.name, line.commands(), argv[1], argc > 2 ? argv[2] : "");
    line.run(argc, argv);
    finish_output();
    return exit_code;
  } catch (const UsageError& error) {
    return fail(program, kUsage, error.what());
  } catch (const std::invalid_argument& error) {  // an option of the protocol
    return fail(program, kUsage, error.what());
  } catch (const Skipped& reason) {
    fmt::print("skipped: {}\n", printable(reason.what(), "\\"));
    return kInvalid;
  } catch (const ReaderLeft&) {
    return kRunError;
  } catch (const std::system_error& error) {
    return fail(program, kRunError, words_of(error) + hint_of(error));
  } catch (const std::exception& error) {
    return fail(program, kRunError, words_of(error));
  } catch (...) {  // of a plug-in: the program itself throws nothing else
    return fail(program, kRunError, "a plug-in has thrown an exception that is no std::exception");
  }
}

}  // namespace joust
