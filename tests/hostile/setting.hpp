// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/variants.hpp"
#include "engines/engine.hpp"
#include "hostile/behaviour.hpp"
#include "joust/protocol.hpp"
#include "net/socket_options.hpp"

namespace joust::hostile {

// One run, as the seed chooses it: an engine and its knobs, a protocol and its options, limits, and how many
// peers come. Engine and protocol may be given; what else the seed chooses does not depend on that.
struct Setting {
  std::uint64_t seed = 0;
  Role role = Role::serve;  // of the engine
  conformance::Variant variant{};
  std::string protocol;
  Parameters parameters{};
  Limits limits{};
  SocketOptions socket{};
  bool on_disk = false;  // the protocol file serves a directory of the disk instead of one in memory
  bool unix_socket = false;
  Appetite appetite{};
  std::size_t at_once = 0;       // hostile peers
  std::uint64_t lives = 0;       // hostile peers altogether; or how many connections a client dials
  int peer_buffers = 0;          // bytes of their sockets' buffers; 0: the kernel's
  std::size_t honest = 0;        // clients
  std::uint64_t stop_after = 0;  // lives begun
  bool second_stop = false;

  // An idle limit that a slow machine may reach: then an honest client may be cut off.
  bool idle_is_short() const { return limits.idle < std::chrono::seconds(10); }

  // Whether these books of a run balance: bytes that the engine counted as sent, and those that its sessions
  // were told of. Where one thread or process reads while another one sends, the reader may see the
  // connection end during the send, and the session is told nothing more.
  bool balances(std::uint64_t sent, std::uint64_t consumed) const;

  std::string text() const;    // for people
  std::string replay() const;  // the arguments of the soak program that bring it about again
};

// The engines that serve, or dial, over sockets, the template engine included; those that this machine or
// this sanitizer cannot run are left out.
std::vector<const Engine*> engines_over_sockets(Role role);

// The choices of a knob, likewise.
std::vector<std::string_view> choices_of(const Knob& knob);

// Those that this side of the engine can speak.
std::vector<std::string> protocols(const Engine& engine, Role role);

// Null and nothing leave the choice to the seed.
Setting setting_of(std::uint64_t seed, Role role, const Engine* engine,
                   const std::optional<std::string>& protocol);

}  // namespace joust::hostile
