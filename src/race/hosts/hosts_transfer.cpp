// SPDX-License-Identifier: MIT
#include "race/hosts/hosts_transfer.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "race/hosts/remote_server.hpp"
#include "race/hosts/side_json.hpp"
#include "race/hosts/trial_link.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/trial/transfer_result.hpp"

namespace joust::race {
namespace {

using nlohmann::json;

// Returns the longest time for the files of a case, which a host writes when it needs them first, and for
// their comparison: disks write more than 10 MB/s.
Duration time_for(const FilePlan& files) {
  constexpr std::uint64_t kLeastRate = 10'000'000;
  return std::chrono::seconds(30 + files.all_bytes() / kLeastRate);
}

class HostsTransfer {
 public:
  HostsTransfer(const RaceHosts& hosts, const TrialOrder& order, std::uint64_t number, ServerOrder serving,
                TransferOrder moving, const Stop& stop)
      : order_(order),
        number_(number),
        serving_(std::move(serving)),
        moving_(std::move(moving)),
        stop_(stop),
        server_(*hosts.server.link),
        command_(*hosts.loads.front().link) {}

  Trial run() {
    if (serve() && move()) compare_and_stop();
    static_cast<void>(ask<void>(server_, "forget", serving_.time_to_stop));
    static_cast<void>(ask<void>(command_, "forget", serving_.time_to_stop));
    if (stop_.requested()) trial_.interrupted = true;
    return std::move(trial_);
  }

 private:
  const FilePlan& files() const { return *order_.load_case.files; }
  bool sends() const { return has_place(order_.entry.contestant.transfer, "from"); }

  template <typename Result>
  Step<Result> ask(TrialLink& host, const char* step, Duration patience, json arguments = json::object()) {
    arguments.update({{"do", "side"}, {"role", "transfer"}, {"step", step}, {"contestant", number_}});
    return step_of<Result>(host.name(), host.call(arguments, patience + kForAnswer));
  }

  bool serve() {
    const json plan{{"files", files()}};
    auto prepared = ask<void>(command_, "start", time_for(files()), plan);
    if (!succeeded(prepared, trial_)) return false;
    auto made = ask<void>(server_, "start", time_for(files()), plan);
    if (!succeeded(made, trial_)) return false;
    auto started = ask<ServerStart>(server_, "serve", serving_.time_to_start, {{"order", serving_}});
    if (!succeeded(started, trial_)) return false;
    moving_.values.port = started->address.substr(started->address.rfind(':') + 1);
    return !stop_.requested();
  }

  // A command whose server has ended fails because of that.
  bool move() {
    auto begun = ask<void>(server_, "begin", {});
    if (!succeeded(begun, trial_)) return false;
    auto moved = ask<TransferEnd>(command_, "run", moving_.patience, {{"order", moving_}});
    auto served = ask<ServedTransfer>(server_, "rest", {});
    if (stop_.requested() || !succeeded(served, trial_) || !succeeded(moved, trial_)) return false;
    trial_.server.usage = served->usage;
    note_surroundings(served->around, trial_);
    note_surroundings(moved->around, trial_);
    moved_ = std::move(*moved);
    return true;
  }

  bool compare_and_stop() {
    const bool moves = order_.entry.contestant.moves_files;
    auto here = ask<std::string>(command_, "compare", time_for(files()), {{"has_target", moves && !sends()}});
    if (!succeeded(here, trial_)) return false;
    auto there = ask<std::string>(server_, "compare", time_for(files()), {{"has_target", moves && sends()}});
    if (!succeeded(there, trial_)) return false;
    auto ended = ask<ServerEnd>(server_, "stop", 2 * serving_.time_to_stop);
    if (stop_.requested() || !succeeded(ended, trial_)) return false;
    ended->result.usage = trial_.server.usage;
    trial_.server = std::move(ended->result);
    const auto took = std::chrono::round<Duration>(std::chrono::duration<double>(moved_.took_s));
    note_transfer(files(), took, moved_.usage, here->empty() ? *there : *here, trial_);
    return true;
  }

  const TrialOrder& order_;
  const std::uint64_t number_;
  const ServerOrder serving_;
  TransferOrder moving_;
  const Stop& stop_;
  TrialLink server_, command_;
  TransferEnd moved_{};
  Trial trial_{};
};

}  // namespace

Trial run_transfer(const RaceHosts& hosts, const TrialOrder& order, std::uint64_t number, ServerOrder serving,
                   TransferOrder moving, const Stop& stop) {
  return HostsTransfer(hosts, order, number, std::move(serving), std::move(moving), stop).run();
}

}  // namespace joust::race
