// SPDX-License-Identifier: MIT
#pragma once

#include "race/model/scenario.hpp"

namespace joust::race {

// Protocols that exist only in these tests: no side of them can be made.
inline const std::vector<Protocol>& fake_protocols() {
  static const std::vector<Protocol> protocols = [] {
    const auto named = [](const char* name) {
      Protocol protocol;
      protocol.name = name;
      return protocol;
    };
    Protocol turns = named("turns"), files = named("files"), disk = named("disk"), work = named("work"),
             room = named("room");
    turns.takes_turns = files.takes_turns = files.counts_turns = true;
    files.options_without_turns = {"once"};
    files.options = {{.name = "once", .summary = "", .standard = "", .serves = false}};
    files.has_ceiling = disk.has_ceiling = false;
    work.largest_payload = 2048;
    room.options = {
        {.name = "flush", .summary = "", .standard = "", .choices = {"batch", "each"}, .loads = false},
        {.name = "seats", .summary = "", .standard = ""},
        {.name = "labour", .summary = "", .standard = "", .loads = false, .in_ceiling = false}};
    return std::vector<Protocol>{named("echo"), turns, files, disk, work, room};
  }();
  return protocols;
}

// The same for engines.
inline Catalogue fake_catalogue() {
  Catalogue catalogue{
      .engines = {
          {.name = "null", .in_process = true},
          {.name = "threads"},
          {.name = "epoll",
           .several_loops = true,
           .knobs = {{.name = "trigger", .choices = {"edge", "level"}, .default_value = "edge"}}},
          {.name = "io-uring",
           .knobs =
               {{.name = "sqpoll", .choices = {"off", "on"}, .default_value = "off", .kernel_thread = "on"}}},
          {.name = "pool",
           .several_loops = true,
           .least_threads = 0,
           .knobs = {{.name = "by",
                      .choices = {"epoll", "ring"},
                      .default_value = "epoll",
                      .unavailable = {{"ring", "io_uring_setup: Operation not permitted"}}}}},
          {.name = "listener", .dials = false},
          {.name = "broken", .unavailable = "io_uring_setup: Operation not permitted"}}};
  for (const Protocol& protocol : fake_protocols()) catalogue.protocols.push_back({.protocol = &protocol});
  return catalogue;
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
