// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joust/settings.hpp"

namespace joust {

// How a thread waits when nothing is ready. `adaptive` spins for a while, then blocks.
enum class Wait : std::uint8_t { block, spin, adaptive };

// A setting of one engine, as data: the command line, scenarios and results all read it from here.
struct Knob {
  std::string_view name;                      // "trigger"
  std::span<const std::string_view> choices;  // the first is the default
  std::string_view summary;                   // one line
  std::string_view kernel_thread = {};        // the choice that makes a kernel thread poll beside each loop
  // Returns why a choice is not available on this machine now; empty if it is. Null: all choices are.
  std::string (*unavailable)(std::string_view choice) = nullptr;
  bool any_text = false;  // other values are allowed too: `choices` has the default alone
  // The choice with which a client reaches servers that are not of this library. A server cannot have it, and
  // clients with it do not reach one. Empty: none.
  std::string_view for_others = {};
};

// One I/O and concurrency model of this library, for programs that let their users choose. All views stay
// valid as long as the program runs.
struct EngineInfo {
  std::string_view name;     // "epoll"; ServerOptions::engine and ClientOptions::engine take it
  std::string_view summary;  // one line
  bool serves = false;
  bool dials = false;
  std::string_view threads;       // which threads do the work, as text: "one per connection"
  std::string_view clients_wait;  // why clients beyond its threads wait; empty if they do not
  std::string_view not_public;    // why other machines must not reach its server; empty if they may
  std::span<const Knob> knobs;    // its settings
  std::string unavailable;        // why it cannot run on this machine now; empty if it can
};

// Returns all engines of the library in the order of `joust engines`, including those that cannot run here.
// Each call probes the kernel. Any thread.
std::vector<EngineInfo> list_engines();

}  // namespace joust
