// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "joust/engines.hpp"
#include "joust/limits.hpp"
#include "joust/service.hpp"

// The seam of an engine: what it is given, and what it says about itself. Programs that link the library see
// only joust/engines.hpp.

namespace joust {

class Listener;  // net/listener.hpp
class Target;    // net/target.hpp
class Stop;      // net/stop.hpp
class Tally;     // connection/tally.hpp

// Options the user gives an engine. Which of them mean anything is in its descriptor.
struct EngineOptions {
  unsigned threads = 1;  // event loops, where the engine has several
  Wait wait = Wait::block;
  Settings knobs{};  // checked against the descriptor before run()

  bool is(std::string_view knob, std::string_view choice) const {
    const auto found = knobs.find(knob);
    return found != knobs.end() && found->second == choice;
  }
};

// What one run of an engine works on. All borrowed, and outliving the run.
struct Hosting {
  Service& service;
  const EngineOptions& options;
  const Limits& limits;
  Tally& tally;
  std::span<Listener* const> listeners = {};  // role serve: at least one
  const Target* target = nullptr;             // role dial: whom,
  std::size_t dials = 0;                      // and how often
  Service* answering = nullptr;  // engines without a transport: the service that answers in this process

  bool serves() const { return !listeners.empty(); }
};

// One I/O and concurrency model. run() returns when the stop is complete, or, without a listener, when every
// dialled connection has ended. It throws std::system_error when the machine refuses something the engine
// cannot do without.
struct Engine {
  std::string_view name;     // lower-case kebab
  std::string_view summary;  // one line
  bool serves = true;
  bool dials = true;
  bool in_process = false;  // no transport: client and server sessions meet in one process
  bool separate_processes = false;  // each serves a part of the connections, with a service of its own
  Delivery::Kind delivery = Delivery::Kind::stream;
  bool several_loops = false;     // `threads` means something
  std::string_view threads;       // who does the work, for people: "one per connection"
  std::string_view wait_ignored = {};  // why --wait means nothing here; empty where it does
  std::span<const Knob> knobs = {};
  std::string (*unavailable)() =
      nullptr;  // why it cannot run here; empty where it can; null where it always can
  void (*run)(const Hosting&, Stop&) = nullptr;
};

// Every engine this program was built from, in the order they are listed.
std::span<const Engine* const> engines();
const Engine* find_engine(std::string_view name);

}  // namespace joust
