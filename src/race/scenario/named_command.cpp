// SPDX-License-Identifier: MIT
#include "race/scenario/named_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/printable.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/set_up/validity.hpp"

namespace joust::race {
namespace {

constexpr const char* kForm = "write NAME=COMMAND, such as --command old='./server --port {port}'";
constexpr std::string_view kSpaces = " \t\n";

// Without its name, a command that has an equals sign reads like NAME=COMMAND: "./server --port={port}". So a
// name here has no characters that are usual in the beginning of a command.
std::optional<std::string> objection_to_name(const std::string& name, const std::vector<Contestant>& others) {
  if (name.empty()) return fmt::format("there is no name before the equals sign; {}", kForm);
  if (name.find_first_of(" \t\n/{}$'\"") != std::string::npos)
    return fmt::format(
        "the name before the equals sign is '{}', and a name has no spaces, slashes, braces or "
        "quotes here; {}",
        printable(name), kForm);
  if (const auto problem = check_name(name)) return fmt::format("the name: {}", *problem);
  if (std::ranges::find(others, name, &Contestant::name) != others.end())
    return fmt::format("another contestant is called '{}'; give each a name of its own", name);
  return std::nullopt;
}

std::optional<std::string> objection_to_command(const std::string& command) {
  if (command.find_first_not_of(kSpaces) == std::string::npos)
    return fmt::format("there is no command after the equals sign; {}", kForm);
  if (command.contains("{here}"))
    return "{here} is the folder of a scenario's file; write the path from the current directory";
  if (const std::string meant = misspelt_name(command); !meant.empty())
    return fmt::format("a place in braces is not filled in; did you mean {}?", meant);
  return std::nullopt;
}

}  // namespace

std::expected<std::vector<Contestant>, std::string> parse_commands(const std::vector<std::string>& texts,
                                                                   const Catalogue& catalogue) {
  std::vector<Contestant> contestants;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const auto wrong = [&](const std::string& what) {
      return std::unexpected(fmt::format("--command '{}': {}", printable(text, "\n"), what));
    };
    if (equals == std::string::npos) return wrong(fmt::format("there is no equals sign; {}", kForm));
    Contestant contestant{.name = text.substr(0, equals),
                          .server = {},
                          .command = text.substr(equals + 1),
                          .needs = {},
                          .client = {.engine = catalogue.standard_client({})}};
    if (const auto problem = objection_to_name(contestant.name, contestants)) return wrong(*problem);
    if (const auto problem = objection_to_command(contestant.command)) return wrong(*problem);
    contestants.push_back(std::move(contestant));
  }
  return contestants;
}

}  // namespace joust::race
