// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

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

// The same for engines: none of them runs.
inline Engine fake_engine(std::string_view name) {
  Engine engine{};
  engine.name = name;
  engine.run = [](const Hosting& /*hosting*/, Stop& /*stop*/) {};
  return engine;
}

inline const std::vector<Engine>& fake_engines() {
  using Choices = std::array<std::string_view, 2>;
  static constexpr Choices kTriggers{"edge", "level"}, kSwitch{"off", "on"}, kWays{"epoll", "ring"};
  static const auto no_ring = [](std::string_view choice) {
    return std::string(choice == "ring" ? "io_uring_setup: Operation not permitted" : "");
  };
  static const std::array<Knob, 1> trigger{{{.name = "trigger", .choices = kTriggers, .summary = ""}}},
      sqpoll{{{.name = "sqpoll", .choices = kSwitch, .summary = "", .kernel_thread = "on"}}},
      by{{{.name = "by", .choices = kWays, .summary = "", .unavailable = no_ring}}};
  static const std::vector<Engine> engines = [] {
    Engine null = fake_engine("null"), epoll = fake_engine("epoll"), ring = fake_engine("io-uring"),
           pool = fake_engine("pool"), listener = fake_engine("listener"), broken = fake_engine("broken");
    null.in_process = true;
    epoll.several_loops = pool.several_loops = true;
    epoll.knobs = trigger;
    ring.knobs = sqpoll;
    pool.least_threads = 0;
    pool.knobs = by;
    listener.dials = false;
    broken.unavailable = [] { return std::string("io_uring_setup: Operation not permitted"); };
    return std::vector<Engine>{null, fake_engine("threads"), epoll, ring, pool, listener, broken};
  }();
  return engines;
}

inline Catalogue fake_catalogue() {
  Catalogue catalogue;
  for (const Engine& engine : fake_engines()) catalogue.engines.push_back({.engine = &engine});
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
