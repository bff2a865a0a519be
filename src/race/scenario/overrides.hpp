// SPDX-License-Identifier: MIT
#pragma once

#include "race/model/scenario.hpp"
#include "race/set_up/thread_numbers.hpp"

namespace joust::race {

// The flags of `joust race`. They describe a race of their own, or replace values of a race read from a file,
// in all of its cases.
struct Overrides {
  std::vector<std::string> servers, clients;  // "epoll", "epoll:trigger=level"; all pairs race
  std::vector<std::string> commands{};        // "old=./server --port {port}": they come before `servers`
  std::optional<std::string> protocol{};
  Settings options{};                  // options of the protocol
  SettingTexts load{};                 // settings of the load
  std::optional<std::string> rates{};  // "30%,50%"
  std::optional<std::string> sweep{};  // "connections=1..20"
  std::optional<Duration> request_timeout{}, trial_timeout{};
  std::optional<std::string> ready{};       // of contestants with a command
  std::optional<Duration> ready_timeout{};  // of all
  std::optional<std::uint64_t> rounds{}, seed{};
  std::optional<bool> turns{};
  std::optional<Duration> turn{}, time{};
  std::optional<double> precision{}, least_difference{};  // 0.03 is 3 %
  std::optional<std::string> reference{};
  std::optional<double> fail_below{}, fail_cost_above{};  // 0.97; see Thresholds
  std::optional<Undecided> undecided{};
  ThreadNumbers threads{};
  std::optional<std::string> wait{};  // of both sides
  std::optional<std::string> server_cpus{}, client_cpus{};
  bool quick = false;
  bool allow_unranked = false;
};

// Returns a race of defaults: the first protocol, for a second.
Scenario empty_scenario(const Catalogue& catalogue);

// Applies the flags. The error names the wrong value and the allowed ones.
std::expected<void, std::string> apply(const Overrides& overrides, Scenario& scenario,
                                       const Catalogue& catalogue);

}  // namespace joust::race
