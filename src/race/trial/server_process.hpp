// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "race/trial/orders.hpp"
#include "race/trial/trial_processes.hpp"

namespace joust::race {

// The server of a trial, from its start to its end. A server of another program is foreign: only its process
// is known. One without a command does not exist, and its steps do nothing.
class ServerProcess {
 public:
  // Uses the place of the server in `processes`, and keeps a reference to both.
  ServerProcess(TrialProcesses& processes, const ServerOrder& order)
      : processes_(processes), order_(order), values_(order.values) {}

  // Returns when the server listens.
  Step<> start();
  // Ends it in order. Fails if it does not end in time, or ends badly.
  Step<> stop();

  const std::string& address() const { return address_; }
  // Returns what it has reported of itself until now.
  ServerResult& result() { return result_; }
  // Returns the values of the order, with the port of a foreign server that has been started.
  const CommandValues& values() const { return values_; }
  bool foreign() const { return order_.command.foreign; }
  SideFailure early_end() const;  // of a server that has ended before the load

 private:
  Step<> start_engine();
  Step<> start_foreign();
  Step<> await_foreign(std::uint16_t port);
  void stop_foreign();
  Part& part() const { return processes_.server; }

  TrialProcesses& processes_;
  const ServerOrder& order_;
  CommandValues values_;
  std::string address_;
  ServerResult result_;
};

}  // namespace joust::race
