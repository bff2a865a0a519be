// SPDX-License-Identifier: MIT
#pragma once

#include "race/model/scenario.hpp"

namespace joust::race {

// Engines and protocols that exist only in these tests.
inline Catalogue fake_catalogue() {
  return {
      .engines = {{.name = "null", .in_process = true},
                  {.name = "threads"},
                  {.name = "epoll",
                   .several_loops = true,
                   .knobs = {{.name = "trigger", .choices = {"edge", "level"}, .default_value = "edge"}}},
                  {.name = "io-uring",
                   .knobs = {{.name = "sqpoll",
                              .choices = {"off", "on"},
                              .default_value = "off",
                              .kernel_thread = "on"}}},
                  {.name = "pool",
                   .several_loops = true,
                   .least_threads = 0,
                   .knobs = {{.name = "by",
                              .choices = {"epoll", "ring"},
                              .default_value = "epoll",
                              .unavailable = {{"ring", "io_uring_setup: Operation not permitted"}}}}},
                  {.name = "listener", .dials = false},
                  {.name = "broken", .unavailable = "io_uring_setup: Operation not permitted"}},
      .protocols = {
          {.name = "echo"},
          {.name = "turns", .takes_turns = true},
          {.name = "files",
           .takes_turns = true,
           .counts_turns = true,
           .options_without_turns = {"once"},
           .has_ceiling = false,
           .options = {{.name = "once", .summary = "", .standard = "", .serves = false}}},
          {.name = "disk", .has_ceiling = false},
          {.name = "work", .largest_payload_bytes = 2048},
          {.name = "room",
           .options = {
               {.name = "flush", .summary = "", .standard = "", .choices = {"batch", "each"}, .loads = false},
               {.name = "seats", .summary = "", .standard = ""},
               {.name = "labour", .summary = "", .standard = "", .loads = false, .in_ceiling = false}}}}};
}

inline Contestant racer(const std::string& server, const std::string& client = "epoll") {
  Contestant contestant;
  contestant.name = server;
  contestant.server.engine = server;
  contestant.client.engine = client;
  return contestant;
}

// Servers on echo, one second a trial.
inline Scenario fake_scenario(const std::vector<std::string>& servers, std::uint64_t rounds = 5) {
  Scenario scenario;
  for (const std::string& server : servers) scenario.contestants.push_back(racer(server));
  Case one;
  one.protocol = "echo";
  one.load.connections = 256;
  scenario.cases.push_back(one);
  scenario.rounds = rounds;
  return scenario;
}

}  // namespace joust::race
