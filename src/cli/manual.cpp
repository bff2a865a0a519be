// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "cli/common/command.hpp"
#include "cli/common/output.hpp"
#include "engines/engine.hpp"
#include "race/scenario/shell_command.hpp"

// The sub-commands `completions` and `man`: all that --help shows, for shells and for man(1).
namespace joust {
namespace {

using race::in_quotes;
using Texts = std::vector<CommandText>;

// Returns the values that an option may have, as far as they are a list.
std::vector<std::string> values_of(const OptionText& option, const Program& program) {
  std::vector<std::string> values = option.allowed;
  if (option.value == "ENGINE" || option.value == "E,E")
    for (const Engine* engine : engines()) values.emplace_back(engine->name);
  if (option.value == "PROTOCOL")
    for (const Protocol& protocol : program.protocols) values.emplace_back(protocol.name);
  return values;
}

std::vector<std::string> names_of(const OptionText& option) {
  std::vector<std::string> names;
  for (const std::string* name : {&option.long_name, &option.short_name})
    if (!name->empty()) names.push_back(*name);
  return names;
}

// Returns the program's name as the name of a shell function.
std::string function_of(const Program& program) {
  std::string name = "_" + program.name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

std::string bash_case(const CommandText& command, const Program& program) {
  std::vector<std::string> all;
  std::string values;
  for (const OptionText& option : command.options) {
    const std::vector<std::string> names = names_of(option), allowed = values_of(option, program);
    all.insert(all.end(), names.begin(), names.end());
    if (names.empty() || allowed.empty()) continue;
    values += fmt::format("        {}) words={} ;;\n", join(names, "|"), in_quotes(join(allowed, " ")));
  }
  return fmt::format(
      "    {})\n      case $before in\n{}        *) [[ $word == -* ]] && words={} ;;\n      esac ;;\n",
      command.name, values, in_quotes(join(all, " ")));
}

std::string bash_script(const Texts& texts, const Program& program) {
  std::vector<std::string> names;
  std::string cases;
  for (const CommandText& command : texts) {
    names.push_back(command.name);
    cases += bash_case(command, program);
  }
  return fmt::format(R"(# Completions of {0} for bash.
{1}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=''
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W {2} -- "$word")
    return
  fi
  case ${{COMP_WORDS[1]}} in
{3}  esac
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}}
complete -o filenames -F {1} {0}
)",
                     program.name, function_of(program), in_quotes(join(names, " ")), cases);
}

// Escapes what _arguments of zsh would take for its own.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("[]:\\").contains(c)) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_option(const OptionText& option, const Program& program) {
  std::string lines;
  for (const std::string& name : names_of(option)) {
    std::string words = fmt::format("{}[{}]", name, zsh_text(option.help));
    if (!option.value.empty()) {
      const std::vector<std::string> values = values_of(option, program);
      words += fmt::format(":{}:{}", zsh_text(option.value),
                           values.empty() ? "_files" : fmt::format("({})", join(values, " ")));
    }
    lines += fmt::format(" \\\n        {}", in_quotes(words));
  }
  return lines;
}

std::string zsh_script(const Texts& texts, const Program& program) {
  std::string commands, cases;
  for (const CommandText& command : texts) {
    commands += fmt::format("    {}\n", in_quotes(command.name + ":" + zsh_text(command.summary)));
    cases += fmt::format("    {})\n      _arguments '*:file:_files'", command.name);
    for (const OptionText& option : command.options) cases += zsh_option(option, program);
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef {0}
# Completions of {0} for zsh.
{1}() {{
  local -a commands=(
{2}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{3}  esac
}}
{1} "$@"
)",
                     program.name, function_of(program), commands, cases);
}

std::string fish_script(const Texts& texts, const Program& program) {
  std::string script = fmt::format("# Completions of {} for fish.\n", program.name);
  for (const CommandText& command : texts)
    script += fmt::format("complete -c {} -f -n __fish_use_subcommand -a {} -d {}\n", program.name,
                          command.name, in_quotes(command.summary));
  for (const CommandText& command : texts)
    for (const OptionText& option : command.options) {
      if (names_of(option).empty()) continue;
      script += fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'", program.name, command.name);
      if (!option.long_name.empty()) script += " -l " + option.long_name.substr(2);
      if (!option.short_name.empty()) script += " -s " + option.short_name.substr(1);
      const std::vector<std::string> values = values_of(option, program);
      if (!option.value.empty()) script += values.empty() ? " -r" : " -x -a " + in_quotes(join(values, " "));
      script += fmt::format(" -d {}\n", in_quotes(option.help));
    }
  return script;
}

// Escapes a line for roff: a backslash, a hyphen, and what would be a request at the beginning.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  return escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" + escaped : escaped;
}

std::string roff_option(const OptionText& option) {
  std::vector<std::string> names;
  for (const std::string& name : names_of(option)) names.push_back("\\fB" + roff(name) + "\\fR");
  std::string head = join(names);
  if (!option.value.empty()) head += fmt::format("{}\\fI{}\\fR", head.empty() ? "" : " ", roff(option.value));
  std::string help = option.help;
  return fmt::format(".TP\n{}\n{}\n", head, roff(help));
}

std::string man_page(const Texts& texts, const Program& program) {
  std::string upper = program.name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string page = fmt::format(
      ".TH {} 1\n.SH NAME\n{} \\- one protocol on every I/O engine, raced side by side\n"
      ".SH SYNOPSIS\n.B {}\n.I COMMAND\n[\\fIOPTION\\fR...]\n.SH COMMANDS\n",
      upper, roff(program.name), roff(program.name));
  for (const CommandText& command : texts) {
    page += fmt::format(".SS {}\n{}.\n", roff(command.name), roff(command.summary));
    for (const OptionText& option : command.options) page += roff_option(option);
    if (command.footer.empty()) continue;
    page += ".PP\n.nf\n";
    for (const std::string_view line : split(command.footer, '\n')) page += roff(line) + "\n";
    page += ".fi\n";
  }
  return page;
}

}  // namespace

void add_manual(Command root, const Program& program, const CommandLine& line) {
  Command completions = root.add_command("completions", "Print the completions of a shell");
  auto shell = std::make_shared<std::string>();
  completions.add_option("shell", *shell, "bash, zsh or fish").one_of({"bash", "zsh", "fish"}).required();
  completions.footer(fmt::format(R"(Examples:
  source <({0} completions bash)
  {0} completions fish >~/.config/fish/completions/{0}.fish)",
                                 program.name));
  completions.callback([shell, &program, &line] {
    const Texts texts = line.texts();
    print_list(*shell == "bash"  ? bash_script(texts, program)
               : *shell == "zsh" ? zsh_script(texts, program)
                                 : fish_script(texts, program));
  });
  Command man = root.add_command("man", "Print the manual page, for man(1)");
  man.footer(fmt::format("Examples:\n  {0} man | man -l -", program.name));
  man.callback([&program, &line] { print_list(man_page(line.texts(), program)); });
}

}  // namespace joust
