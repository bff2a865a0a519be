// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "net/stop.hpp"
#include "race/trial/child.hpp"
#include "race/trial/transfer_trial.hpp"

namespace joust::race {

class HostedTransfer;

// The sides of a race that run on this host, for a conductor on another one: each step of a side is a
// request. All processes are killed at the object's end. One thread.
class SideAgent {
 public:
  explicit SideAgent(const Stop& stop);
  ~SideAgent();
  SideAgent(const SideAgent&) = delete;
  SideAgent& operator=(const SideAgent&) = delete;

  // Returns what the conductor may ask for, by the "do" of a request. This object outlives the handlers. They
  // throw std::exception for a request that cannot be read.
  //
  //   host    place                the report of this host (HostReport)
  //   clear                        kills all sides that are left
  //   side    role step contestant ...
  //           a step of a side, "server" or "load", of the contestant with this number. "start" has the order
  //           (ServerOrder, LoadOrder), and kills a side of that number that is left; "forget" only kills it.
  //           Others have the arguments of the step; "at_ns" of "take_turn" is the time at which it begins,
  //           on the monotonic clock of this host. The role "transfer" is either side of a command that moves
  //           files (HostedTransfer): "start" has the files, and the other steps are its methods.
  //
  // "host" and "side" return reply_of(the step).
  std::map<std::string, std::function<nlohmann::json(const nlohmann::json&)>> handlers();

  // Returns the processes of all sides. Their output is to be collected while no request is served.
  std::vector<Child*> children() const;

 private:
  nlohmann::json serve_side(const nlohmann::json& request);
  struct HostedServer;
  struct HostedLoad;
  nlohmann::json serve_server(const nlohmann::json& request);
  nlohmann::json serve_load(const nlohmann::json& request);
  nlohmann::json serve_transfer(const nlohmann::json& request);
  nlohmann::json step_of_transfer(const nlohmann::json& request);

  const Stop& stop_;
  std::map<std::uint64_t, std::unique_ptr<HostedServer>> servers_;
  std::map<std::uint64_t, std::unique_ptr<HostedLoad>> loads_;
  MovedFilesOfRace files_;
  std::unique_ptr<HostedTransfer> transfer_;  // one at a time
};

}  // namespace joust::race
