// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "joust/engines.hpp"
#include "joust/limits.hpp"
#include "joust/service.hpp"
#include "net/socket_options.hpp"

// The interface of an engine: the input of a run, and the descriptor. Programs that link the library use only
// joust/engines.hpp.

namespace joust {

struct Endpoint;  // net/address.hpp
class Listener;   // net/listener.hpp
class Target;     // net/target.hpp
class Stop;       // net/stop.hpp
class Tally;      // connection/tally.hpp
class Account;    // connection/account.hpp

// Options from the user. The engine's descriptor says which of them apply.
struct EngineOptions {
  unsigned threads = 1;  // event loops or workers, for engines that have several
  Wait wait = Wait::block;
  bool paced = false;  // an open loop: deadlines are met within microseconds, and events stamped one by one
  Settings knobs{};    // checked against the descriptor before run()

  bool is(std::string_view knob, std::string_view choice) const {
    const auto found = knobs.find(knob);
    return found != knobs.end() && found->second == choice;
  }
};

// The input of one run. Everything is borrowed and outlives the run.
struct Hosting {
  static constexpr Duration kChoreEvery = std::chrono::milliseconds(25);

  Service& service;
  const EngineOptions& options;
  const Limits& limits;
  Tally& tally;
  std::span<Listener* const> listeners = {};  // role serve: at least one
  const Target* target = nullptr;             // role dial: the address,
  std::size_t dials = 0;                      // and the number of connections,
  std::size_t vacancies = 0;                  // and of further ones, dialled when the service orders a redial
  Service* answering = nullptr;               // engines without a transport: the service of the server side
  std::function<void()> on_ready = {};        // role serve
  // Role serve: the account by which connections give way to those of other addresses. Null: peers beyond the
  // limit wait in the accept queue.
  Account* account = nullptr;
  // Role serve, engines with does_chores and one loop: called by the loop while it has work, about every
  // kChoreEvery, and on while it returns true. Empty if nothing is to be called, or a thread of its own does
  // it.
  std::function<bool()> chore = {};

  bool serves() const { return !listeners.empty(); }
  // Returns how many more connections may be opened while `open` connections are open.
  std::size_t room(std::size_t open) const;
  // Called once by a server, on the thread of run(), when everything it needs from the start exists. Peers
  // are served from now on.
  void ready() const {
    if (on_ready) on_ready();
  }
  // Called while no peer can be accepted for a moment. Notes `why`, and lets idle connections give way.
  void accepting_pauses(std::string_view why, Time now) const;
  // Counts a connection that could not be opened, and reports it to the service.
  void not_opened(const Failure& failure, Time now) const noexcept;
};

// Whether this machine can reach a multicast group.
struct GroupWay {
  std::string obstacle{};    // why messages to the group would not arrive; empty if they would
  bool is_local = true;      // no other machine can reach the group
  std::string wrong_knob{};  // what is wrong with the value of a knob, with its flag; empty if nothing is
};

// The value that a knob has because of another choice, whatever it is set to.
struct DecidedKnob {
  std::string_view by{};  // the other choice, with its flag: "--sqpoll on"; empty: the knob has its own value
  std::string_view value{};
};

// One I/O and concurrency model. run() returns when the stop is complete or, without a listener, when every
// dialled connection has ended. It throws std::system_error when the operating system refuses a resource it
// needs, before ready() if that is at the start.
struct Engine {
  std::string_view name;     // lower-case kebab
  std::string_view summary;  // one line
  bool serves = true;
  bool dials = true;
  bool in_process = false;          // no transport: client and server sessions meet in one process
  bool separate_processes = false;  // as server: a process for each connection, with its own service
  Delivery delivery = {};
  Transport transport = Transport::stream;  // of its sockets
  // Engines that send to a multicast group: the address at which they listen by default, and whether this
  // machine can reach a group with these knobs. Empty and null for all other engines.
  std::string_view group = {};
  GroupWay (*way_of_group)(const Endpoint& group, const Settings& knobs) = nullptr;
  unsigned files_each = 1;                     // open files of a client's connection,
  unsigned files_of_dial = 0;                  // and further ones until it is established
  bool several_loops = false;                  // the option `threads` applies,
  unsigned least_threads = 1;                  // with at least this number
  bool does_chores = false;                    // with one loop: calls Hosting::chore
  bool own_threads = false;                    // of each peer: one that computes delays no other
  bool threads_share_peers = false;            // any of several threads takes a peer's next event
  std::string_view threads;                    // which threads do the work, as text: "one per connection"
  std::string_view clients_wait = {};          // why clients beyond -t wait; empty if they do not
  std::string_view wait_ignored = {};          // why --wait does not apply; empty if it does
  std::string_view wait_errors_ignored = {};   // why a wait that fails is repeated at once; empty if not
  std::string_view wait_errors_abort = {};     // why a wait that fails ends the process; empty if not
  std::string_view blocks_on_slow_peers = {};  // how a peer that does not read delays others; empty if not
  // Duties that a library does not keep, with the reason; empty if the engine keeps them.
  std::string_view ends_with_peer = {};     // unsent output is lost when the peer ends its direction
  std::string_view resets_are_ends = {};    // a reset counts as the end of the peer's stream
  std::string_view resets_unseen = {};      // a reset goes unnoticed while nothing is wanted from its peer
  std::string_view spins_at_shortage = {};  // a server spins while it can accept no peer
  std::string_view not_public = {};         // why strangers must not reach a server; empty if they may
  std::string_view no_file_ring = {};       // why files are not received through a ring; empty if they are
  std::string_view no_file_mapping = {};    // why bytes of a mapped file are not sent; empty if they are
  bool in_module = false;                   // its code is loaded when the engine runs
  std::string_view keeps = {};  // what its library keeps open until the process ends; empty if nothing
  std::span<const Knob> knobs = {};
  // Returns which other choice decides a knob; null: none does. Such a knob is refused where it is given, and
  // results have the value that counts.
  DecidedKnob (*decided)(std::string_view knob, const EngineOptions& options) = nullptr;
  std::string (*unavailable)() = nullptr;  // why it cannot run here; empty if it can; null if it always can
  void (*run)(const Hosting&, Stop&) = nullptr;

  // Returns whether a client with these options speaks to servers that are not joust's (Knob::for_others).
  bool is_for_others(const EngineOptions& options) const {
    return std::ranges::any_of(knobs, [&](const Knob& knob) {
      return !knob.for_others.empty() && options.is(knob.name, knob.for_others);
    });
  }
  std::string_view listens_at() const { return group.empty() ? "127.0.0.1:0" : group; }
};

// Every engine of this program, in the order of `joust engines`.
std::span<const Engine* const> engines();
const Engine* find_engine(std::string_view name);

// Returns the choices of a knob that are unavailable here, with the reasons.
Settings unavailable_choices(const Knob& knob);

struct UnavailableChoice {
  std::string knob, choice, reason;
};

// Returns the first of these knobs whose choice is unavailable here; nothing if all are available. Knobs that
// the engine does not have are left out.
std::optional<UnavailableChoice> unavailable_choice(const Engine& engine, const Settings& knobs);

}  // namespace joust
