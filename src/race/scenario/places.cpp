// SPDX-License-Identifier: MIT
#include "race/scenario/places.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "race/trial/commands.hpp"

namespace joust::race {
namespace {

constexpr std::array<std::pair<std::string_view, std::string Places::*>, 6> kPlaces{
    {{"port", &Places::port},
     {"from", &Places::from},
     {"into", &Places::into},
     {"last", &Places::last},
     {"bytes", &Places::bytes},
     {"joust", &Places::joust}}};

constexpr std::string_view kHere = "here";

std::string braced(std::string_view name) {
  return '{' + std::string(name) + '}';
}

void fill(std::string& command, std::string_view name, const std::string& value) {
  const std::string place = braced(name);
  for (std::size_t at = 0; (at = command.find(place, at)) != std::string::npos; at += value.size())
    command.replace(at, place.size(), value);
}

}  // namespace

std::string filled(std::string command, const Places& places) {
  for (const auto& [name, text] : kPlaces) fill(command, name, places.*text);
  return command;
}

std::string server_command(const std::string& command, const Places& places) {
  const bool has_port = command.find(braced("port")) != std::string::npos;
  return filled(has_port ? command : "export PORT={port}; " + command, places);
}

std::string with_folder(std::string command, const std::string& file) {
  fill(command, kHere, shell_text({std::filesystem::absolute(file).parent_path().string()}));
  return command;
}

std::string misspelt_place(std::string_view command) {
  static const auto names = [] {
    std::array<std::string, kPlaces.size() + 1> all{std::string(kHere)};
    std::ranges::transform(kPlaces, all.begin() + 1,
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

}  // namespace joust::race
