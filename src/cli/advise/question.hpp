// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "joust/time.hpp"

namespace joust::advise {

// A user's description of the traffic.
struct Question {
  std::uint64_t connections = 64;
  double idle = 0;  // the share of connections that send nothing in a second: 0.95 is 95 %; 0: a closed loop
  Duration work{};  // of the server, for each request
  std::optional<std::uint64_t> payload{};  // bytes of a message; empty: those of every race
  bool datagrams = false;                  // messages may be lost
  Duration time = std::chrono::seconds(60);

  // Returns messages per second of all connections together; 0 where each sends as soon as it has its reply.
  double rate_per_s() const { return idle == 0 ? 0 : static_cast<double>(connections) * (1 - idle); }
  // Returns the seconds that a server works in a second. 0 in a closed loop.
  double work_per_s() const { return rate_per_s() * std::chrono::duration<double>(work).count(); }
};

// A part of the question: an option, and what is asked on a terminal.
struct Part {
  const char* flag;
  const char* type;  // the word for its value; empty: a flag, and yes or no on a terminal
  const char* help;  // without the default
  const char* asked;
  const char* standard;
  // Takes a value. Returns the error message, or an empty string.
  std::string (*take)(Question& question, const std::string& text);
};

std::span<const Part> parts();

// Asks for all parts on the terminal of standard input. Throws UsageError at its end, and after three answers
// that do not fit.
Question ask();

}  // namespace joust::advise
