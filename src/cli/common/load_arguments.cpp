// SPDX-License-Identifier: MIT
#include "cli/common/load_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "cli/common/arguments.hpp"
#include "hosting/options.hpp"

namespace joust {
namespace {

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
