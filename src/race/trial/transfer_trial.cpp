// SPDX-License-Identifier: MIT
#include "race/trial/transfer_trial.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/trial/orders.hpp"
#include "race/trial/process_setup.hpp"
#include "race/trial/server_process.hpp"
#include "race/trial/surroundings.hpp"
#include "race/trial/transfer_result.hpp"

namespace joust::race {
namespace {

class TransferTrial {
 public:
  TransferTrial(const ProcessSetup& setup, const TrialOrder& order, MovedFiles& files)
      : setup_(setup), order_(order), files_(files) {}

  Trial run() {
    trial_.serverless = order_.entry.contestant.command.empty();
    const bool in_order = start_server() && transfer() && stop_server();
    if (!in_order) processes_.end(setup_.server_stop);
    files_.remove_target();
    if (!in_order && !setup_.stop.requested()) files_.restore();
    trial_.server = std::move(serving_.result());
    if (setup_.stop.requested()) trial_.interrupted = true;
    return std::move(trial_);
  }

 private:
  bool start_server() {
    auto started = serving_.start();
    return succeeded(started, trial_);
  }

  bool stop_server() {
    auto stopped = serving_.stop();
    return !setup_.stop.requested() && succeeded(stopped, trial_);
  }

  bool fail_command(std::string what) { return fail(failure_of(command_, std::move(what)), trial_); }

  std::optional<Usage> usage_of_server() const {
    return server_.running() ? usage_of_processes(server_.child->processes()) : std::nullopt;
  }

  bool transfer() {
    const Surroundings before = read_surroundings(pinned_);
    const auto server_before = usage_of_server();
    if (server_.calls) server_.calls_before = server_.calls->count();
    const Time began = Clock::now();
    auto started = processes_.start(
        command_,
        shell_command(filled(order_.entry.contestant.transfer, serving_.values()), setup_.cpus.client));
    if (!succeeded(started, trial_)) return false;
    const Duration patience = most_time(setup_.scenario.limits, order_.load_case.load);
    const bool ended =
        processes_.wait_until(began + patience, [&] { return command_.gone() || server_.gone(); });
    const Time at_end = Clock::now();
    count_calls();
    const auto server_after = usage_of_server();
    note_surroundings(window_of(before, read_surroundings(pinned_)), trial_);
    if (setup_.stop.requested()) return false;
    if (!ended)
      return fail_command(
          fmt::format("the transfer did not end within {} and was killed; trial_timeout allows more",
                      format_duration(patience)));
    if (!command_.gone()) return fail(serving_.early_end(), trial_);
    if (command_.child->exit_code() != 0)
      return fail_command(fmt::format("the transfer failed: {}", command_.child->how_it_ended()));
    if (const std::string changed = files_.restore(); !changed.empty()) return fail_command(changed);
    if (server_before && server_after) serving_.result().usage = *server_after - *server_before;
    keep(at_end - began);
    return true;
  }

  void count_calls() {
    if (server_.calls)
      trial_.server_calls = static_cast<double>(server_.calls->count() - server_.calls_before);
    if (command_.calls) trial_.client_calls = static_cast<double>(command_.calls->count());
    for (const Part* part : {&server_, &command_})
      if (!part->no_calls.empty()) trial_.calls_reason = part->no_calls;
  }

  void keep(Duration took) {
    const std::string wrong = order_.entry.contestant.moves_files ? files_.difference() : std::string();
    note_transfer(*order_.load_case.files, took, command_.child->usage().value_or(Usage{}), wrong, trial_);
  }

  const ProcessSetup& setup_;
  const TrialOrder& order_;
  MovedFiles& files_;
  const ServerOrder server_order_ =
      server_order(setup_, order_,
                   {.from = files_.from(),
                    .into = files_.fresh_target(),
                    .last = files_.last(),
                    .bytes = fmt::format("{}", order_.load_case.files->all_bytes()),
                    .joust = own_program()});
  TrialProcesses processes_{setup_.stop, order_.count_calls};
  ServerProcess serving_{processes_, server_order_};
  const PinnedCpus pinned_ = pinned_cpus(setup_.cpus, false);
  Trial trial_{};
  Part& server_ = processes_.server;
  Part& command_ = processes_.load;
};

}  // namespace

// A full disk ends a trial, and not the race.
Trial run_transfer(const ProcessSetup& setup, const TrialOrder& order, MovedFilesOfRace& files) {
  try {
    return TransferTrial(setup, order, files.of(*order.load_case.files)).run();
  } catch (const std::system_error& error) {
    Trial trial;
    trial.failure = words_of(error);
    return trial;
  }
}

}  // namespace joust::race
