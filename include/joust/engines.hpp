// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joust/settings.hpp"

namespace joust {

// How a thread waits when nothing is ready. Adaptive spins for a while, then blocks.
enum class Wait : std::uint8_t { block, spin, adaptive };

// A setting that only some engines have, as data: command line, scenarios and results all read it from here.
struct Knob {
  std::string_view name;                      // "trigger"
  std::span<const std::string_view> choices;  // the first is the default
  std::string_view summary;                   // one line
  std::string_view kernel_thread = {};  // the choice with which a thread of the kernel polls beside each loop
};

// One way of this library to drive sockets, for programs that let their users choose. All views stay valid
// for as long as the program runs.
struct EngineInfo {
  std::string_view name;     // "epoll"; ServerOptions::engine and ClientOptions::engine take it
  std::string_view summary;  // one line
  bool serves = false;
  bool dials = false;
  std::string_view threads;     // which threads do the work, for people: "one per connection"
  std::span<const Knob> knobs;  // the settings it has
  std::string unavailable;      // why it cannot run on this machine now; empty where it can
};

// Every engine of the library, those that cannot run here included, in the order of `joust engines`. Asks the
// kernel what it can do, each time. Any thread.
std::vector<EngineInfo> list_engines();

}  // namespace joust
