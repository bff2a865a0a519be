// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "race/scenario/shell_command.hpp"
#include "race/trial/commands.hpp"
#include "race/trial/process_setup.hpp"
#include "race/trial/result_file.hpp"
#include "race/trial/runner.hpp"
#include "race/trial/temporary_folder.hpp"
#include "race/trial/trial_processes.hpp"

namespace joust::race {

// Server and load of one contestant, from their start to their end, with the trial that their reports fill
// in. A step returns false when the trial has ended early: failed, with the reason in the trial, or
// interrupted.
class TrialSides {
 public:
  TrialSides(const ProcessSetup& setup, const TrialOrder& order)
      : setup_(setup), order_(order), processes_(setup.stop, order.count_calls) {}

  // `values`: the folders of an external contestant.
  bool start_server(CommandValues values = {});
  bool start_load();
  bool start_transfer();  // the contestant's command, in place of a load
  bool read_result();     // after the load's end
  bool stop_server();
  // Reads how the threads of both sides are scheduled, once for each contestant of a case.
  void note_scheduling();
  void end() { processes_.end(setup_.server_stop); }  // both, after a failure

  // Records why the trial has failed, and the last words of the part at fault. Returns false.
  bool fail(std::string what, const Part& part);
  // `hint`: the end of the message where the time was over.
  bool fail_waiting(const Part& part, const std::string& what, Duration patience,
                    const std::string& hint = {});
  bool fail_without_server();  // the server has ended before the load

  bool external() const { return order_.entry.contestant.external(); }
  const ProcessSetup& setup() const { return setup_; }
  const TrialOrder& order() const { return order_; }
  Trial& trial() { return trial_; }
  TrialProcesses& processes() { return processes_; }
  Part& server() { return processes_.server; }
  Part& load() { return processes_.load; }

 private:
  Duration time_to_start() const;
  ChildCommand own_command(const Words& words) const;
  bool start(Part& part, const ChildCommand& command);
  bool start_engine();
  bool start_external();
  bool await_external(std::uint16_t port);
  void stop_external();
  ChildCommand shell_command(const std::string& text, const std::string& cpus) const;

  const ProcessSetup& setup_;
  const TrialOrder order_;
  Trial trial_;
  ResultFile result_;
  std::string address_;
  CommandValues values_;
  std::optional<TemporaryFolder> socket_folder_;  // of a server on a unix socket, until its process has ended
  TrialProcesses processes_;
};

}  // namespace joust::race
