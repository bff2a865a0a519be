// SPDX-License-Identifier: MIT
#pragma once

#include "race/model/scenario.hpp"
#include "race/set_up/placement.hpp"

namespace joust::race {

// The flags of `joust race`. They describe a race of their own, or replace values of a race read from a file,
// in all of its cases.
struct Overrides {
  std::vector<std::string> servers, clients;  // "epoll", "epoll:trigger=level"; all pairs race
  std::vector<std::string> commands{};        // "old=./server --port {port}": they come before `servers`
  std::optional<std::string> protocol{};
  Settings options{};                       // options of the protocol
  SettingTexts load{};                      // settings of the load
  SettingTexts own{};                       // settings of the race itself: race_settings()
  std::optional<std::string> rates{};       // "30%,50%"
  std::optional<std::string> sweep{};       // "connections=1..20"
  std::optional<std::string> ready{};       // of contestants with a command
  std::optional<Duration> ready_timeout{};  // of all
  ThreadNumbers threads{};
  std::optional<std::string> wait{};  // of both sides
  bool quick = false;
};

// Returns a race of defaults: the first protocol, for a second.
Scenario empty_scenario(const Catalogue& catalogue);

// Applies the flags. The error names the wrong value and the allowed ones.
std::expected<void, std::string> apply(const Overrides& overrides, Scenario& scenario,
                                       const Catalogue& catalogue);

}  // namespace joust::race
