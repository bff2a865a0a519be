// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <thread>

#include "measure/usage.hpp"
#include "race/trial/local_sides.hpp"
#include "race/trial/orders.hpp"
#include "race/trial/sides.hpp"
#include "race/trial/transfer_trial.hpp"

// The sides of commands that move files from one host to another. Both hosts write the same files, from the
// same seed, so that what has arrived is compared where it is.
namespace joust::race {

// The command that moves the files.
struct TransferOrder {
  ChildCommand command{};
  CommandValues values{};  // for its text; the host knows its own folders
  Duration patience{};     // the longest time until it ends
  std::optional<PinnedCpus> watched{};
};
struct TransferEnd {
  double took_s = 0;
  Usage usage{};
  Surroundings around{};
};
// The part of the server while the command ran.
struct ServedTransfer {
  std::optional<Usage> usage{};  // nothing where it cannot be read
  Surroundings around{};
};

// One transfer, on the host of its server or on that of its command. The processes are killed at the object's
// end, and the target is removed. One thread.
class HostedTransfer {
 public:
  // The objects outlive it. Makes an empty target. Throws std::system_error.
  HostedTransfer(const Stop& stop, const FilePlan& plan, MovedFiles& files);
  ~HostedTransfer();
  HostedTransfer(const HostedTransfer&) = delete;
  HostedTransfer& operator=(const HostedTransfer&) = delete;

  // The steps of the server, in this order: begin() before the command runs, and rest() after it.
  Step<ServerStart> serve(ServerOrder order);
  bool serves() const { return serving_.has_value(); }
  Step<> begin();
  Step<ServedTransfer> rest();
  Step<ServerEnd> stop();

  // Runs the command. Returns when it has ended.
  Step<TransferEnd> run(const TransferOrder& order);

  // Returns what is wrong with the target in words; empty if it has all files, or if this host `has_target`
  // not. Fails if a command has changed the files where they come from.
  Step<std::string> compare(bool has_target);

 private:
  CommandValues with_folders(CommandValues values) const;
  std::optional<Usage> usage_of_server();

  const FilePlan plan_;
  MovedFiles& files_;
  const std::string into_;
  TrialProcesses processes_;
  std::optional<ServerOrder> order_{};
  std::optional<ServerProcess> serving_{};
  std::optional<Usage> usage_before_{};
  Surroundings around_before_{};
  std::jthread listening_{};  // to the output of the server, until the next request
};

}  // namespace joust::race
