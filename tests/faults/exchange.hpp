// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/variants.hpp"

namespace joust::faults {

// What has come of an exchange.
struct Outcome {
  unsigned right = 0;               // clients served to the last byte
  unsigned lost = 0;                // clients whose connection was refused or ended early
  unsigned refused = 0;             // answers that the server's disk does not do as it was asked
  std::uint64_t counted = 0;        // failures, by the engine
  std::string ended_by;             // what run() threw
  bool had_begun = false;           // before that: somebody had been served
  std::vector<std::string> faults;  // wrong bytes, a broken contract of Session, what was left behind
};

// Fixed exchanges of a few milliseconds, in which an engine makes the calls it ever makes. The engine's
// threads are marked; everybody else's calls never fail.
struct Exchange {
  std::string_view name;
  Outcome (*run)(const conformance::Variant& variant);
  Role role;
  bool by_ring = false;     // only for engines that receive files through a ring buffer
  bool by_mapping = false;  // only for engines that send from the mapping of a file
};

extern const Exchange kEcho;      // small and large requests, a half-close, a stop with a connection open
extern const Exchange kRoom;      // members of a broadcast that hear each other
extern const Exchange kFiles;     // downloads by sendfile, uploads by splice
extern const Exchange kMapped;    // the same by mmap
extern const Exchange kPlain;     // the same by read and write
extern const Exchange kRinged;    // the same by read, readv and writev
extern const Exchange kDialling;  // the engine as client of a plain server

std::span<const Exchange* const> exchanges();  // all of them

}  // namespace joust::faults
