// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/common/command.hpp"
#include "connection/tally.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"

namespace joust {

// While it exists, SIGINT, SIGTERM and SIGHUP (a closed terminal) request a stop of `stop`. SIGUSR1 calls
// `report`, which must be async-signal-safe, with the value that sigqueue(3) has sent, or 0. A SIGHUP that is
// ignored from the start, as by nohup(1), stays ignored. If a stop was requested, all of these signals are
// ignored after this object's end: the program is about to end, and another signal would take the result or
// the exit code. One object at a time in a process. After the second of these signals the process has 3 s for
// its end. Code that never returns, for example a callback of a plug-in, may keep it from that: then the
// process exits with 128 + the number of the signal. With Second::asks it has any time.
// Handlers are used, not a thread that waits for signals: once a process has had a second thread, glibc makes
// each recv and send a cancellation point with two atomic operations. An engine with one thread would pay for
// a thread that it does not have.
class Signals {
 public:
  enum class Second : unsigned char { asks, ends };
  explicit Signals(Stop& stop, void (*report)(int value) = nullptr, Second second = Second::ends);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static constexpr std::array kWatched{SIGINT, SIGTERM, SIGHUP, SIGUSR1};
  std::array<struct sigaction, kWatched.size()> before_{};
  struct sigaction before_alarm_ {};
};

// Returns the last line of a server: the connections, bytes and errors of its run, its usage, and the figures
// of its protocol.
nlohmann::ordered_json stopped_event(const Tally& tally, const Listeners& listeners,
                                     const std::vector<ResultGroup>& groups);

// Reports for people how many connections failed, and why; nothing if none did.
void complain_of_failures(const Program& program, const Tally& tally);

}  // namespace joust
