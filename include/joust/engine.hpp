// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "joust/service.hpp"
#include "joust/time.hpp"

namespace joust {

class Listener;  // net/listener.hpp
class Target;    // net/target.hpp
class Stop;      // net/stop.hpp
class Tally;     // connection/tally.hpp

// How a thread waits when nothing is ready. Adaptive spins for a while, then blocks.
enum class Wait : std::uint8_t { block, spin, adaptive };

// A setting that only some engines have, as data: command line, scenarios and results all read it from here.
struct Knob {
  std::string_view name;                      // "trigger"
  std::span<const std::string_view> choices;  // the first is the default
  std::string_view summary;
  std::string_view kernel_thread = {};  // the choice with which a thread of the kernel polls beside each loop
};

// Options the user gives an engine. Which of them mean anything is in its descriptor.
struct EngineOptions {
  unsigned threads = 1;  // event loops, where the engine has several
  Wait wait = Wait::block;
  std::map<std::string, std::string, std::less<>> knobs;  // checked against the descriptor before run()

  bool is(std::string_view knob, std::string_view choice) const {
    const auto found = knobs.find(knob);
    return found != knobs.end() && found->second == choice;
  }
};

// Everything an engine may take from a peer or the machine is bounded by these.
struct Limits {
  std::size_t connections = 16'000;             // open at once; beyond it peers wait in the accept queue
  std::size_t read_bytes = 64 << 10;            // one read
  std::size_t read_bytes_per_turn = 256 << 10;  // from one peer, before others get their turn
  unsigned accepts_per_turn = 64;
  unsigned dials_at_once = 256;  // connects in progress
  Duration connect = std::chrono::seconds(10);
  Duration idle = std::chrono::seconds(60);               // without a byte either way
  Duration linger = std::chrono::seconds(1);              // for the peer's end after our own
  Duration drain = std::chrono::seconds(2);               // for open connections after a stop
  Duration accept_pause = std::chrono::milliseconds(50);  // when the machine is out of descriptors or memory
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

enum class Role : std::uint8_t { serve, dial };

// One I/O and concurrency model. run() returns when the stop is complete, or, without a listener, when every
// dialled connection has ended. It throws std::system_error when the machine refuses something the engine
// cannot do without.
struct Engine {
  std::string_view name;     // lower-case kebab
  std::string_view summary;  // one line
  bool serves = true;
  bool dials = true;
  bool in_process = false;  // no transport: client and server sessions meet in one process
  bool separate_processes = false;  // each serves some of the connections, with a service of its own
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
