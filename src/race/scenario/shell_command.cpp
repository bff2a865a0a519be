// SPDX-License-Identifier: MIT
#include "race/scenario/shell_command.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.hpp"

namespace joust::race {
namespace {

constexpr std::array<std::pair<std::string_view, std::string CommandValues::*>, 7> kNames{
    {{"address", &CommandValues::address},
     {"port", &CommandValues::port},
     {"from", &CommandValues::from},
     {"into", &CommandValues::into},
     {"last", &CommandValues::last},
     {"bytes", &CommandValues::bytes},
     {"joust", &CommandValues::joust}}};

constexpr std::string_view kHere = "here";

std::string braced(std::string_view name) {
  return '{' + std::string(name) + '}';
}

void fill(std::string& command, std::string_view name, const std::string& value) {
  const std::string place = braced(name);
  for (std::size_t at = 0; (at = command.find(place, at)) != std::string::npos; at += value.size())
    command.replace(at, place.size(), value);
}

bool needs_quotes(const std::string& word) {
  return word.empty() || !std::ranges::all_of(word, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  std::string_view("-_./:=,+@%").find(c) != std::string_view::npos;
         });
}

}  // namespace

bool has_place(const std::string& command, std::string_view name) {
  return command.contains(braced(name));
}

std::string filled(std::string command, const CommandValues& values) {
  for (const auto& [name, text] : kNames) fill(command, name, values.*text);
  return command;
}

std::string server_command(const std::string& command, const CommandValues& values) {
  return filled(has_place(command, "port") ? command : "export PORT={port}; " + command, values);
}

std::string with_folder(std::string command, const std::string& file) {
  fill(command, kHere, shell_text({std::filesystem::absolute(file).parent_path().string()}));
  return command;
}

bool is_built_program(const std::string& command, const std::string& file) {
  if (file.empty()) return false;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  std::error_code none;
  return command.contains(shell_text({folder.string()}) + "/../build/") &&
         std::filesystem::exists(folder / "../script/build", none);
}

std::string misspelt_name(std::string_view command) {
  static const auto names = [] {
    std::array<std::string, kNames.size() + 1> all{std::string(kHere)};
    std::ranges::transform(kNames, all.begin() + 1,
                           [](const auto& place) { return std::string(place.first); });
    return all;
  }();
  for (std::size_t at = 0; (at = command.find('{', at)) != std::string_view::npos; ++at) {
    const std::string_view rest = command.substr(at + 1);
    const std::string word(rest.substr(0, rest.find('}')));
    const bool is_word = !word.empty() && word.size() < rest.size() && (at == 0 || command[at - 1] != '$') &&
                         std::ranges::all_of(word, [](unsigned char c) { return std::isalpha(c) != 0; });
    if (!is_word || std::ranges::count(names, word) != 0) continue;
    if (const std::string meant = nearest(word, names); !meant.empty()) return braced(meant);
  }
  return {};
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + '\'';
}

std::string shell_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += needs_quotes(word) ? in_quotes(word) : word;
  }
  return text;
}

}  // namespace joust::race
