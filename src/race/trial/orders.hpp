// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "race/model/result.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/trial/child.hpp"
#include "race/trial/process_family.hpp"
#include "race/trial/runner.hpp"
#include "race/trial/surroundings.hpp"

namespace joust::race {

// The command lines of the two children of a trial.

using Words = std::vector<std::string>;

// Returns the words of `joust serve ...`, without the program's name.
Words serve_words(const Scenario& scenario, const Case& one, const Entry& entry, const CpuPlan& cpus);

// The form in which the load is passed to the child: flags, for people, or a JSON document, which is exact.
enum class PlanAs { flags, document };

// Returns the words of `joust load ...`, without the program's name. `address` is where to connect, unused in
// process; `result` is the file for its result. Either is left out where it is empty.
Words load_words(const Scenario& scenario, const Case& one, const Entry& entry, const CpuPlan& cpus,
                 const std::string& address, const std::string& result, PlanAs how = PlanAs::flags);

// The data of a trial that its sides need. They know neither scenario nor contestants.

struct ServerOrder {
  // `joust serve ...`, or the shell that runs the command of a foreign server, whose text is its last word.
  // Without a program there is no server.
  ChildCommand command{};
  CommandValues values{};  // for the text of a foreign server
  Duration time_to_start{}, time_to_stop{};
  bool ignores_stop = false;            // an earlier trial has shown that it does not end when it is asked to
  std::uint64_t forks_for = 0;          // connections for each of which it has a process; 0: it does not fork
  bool may_start_others = false;        // it may start processes at any time
  bool shows_scheduling = false;        // read how its threads are scheduled, at the end
  std::optional<PinnedCpus> watched{};  // the CPUs of this host to look at in turns; empty: another side does
};

struct LoadOrder {
  ChildCommand command{};  // `joust load ...`, without --connect and --json
  Duration time_to_connect{}, time_to_stop{};
  Duration time_beyond_turn{};      // the longest time from the end of a turn to its last reply
  Duration time_of_counted_turn{};  // the longest counted turn
  bool shows_scheduling = false;
  std::optional<PinnedCpus> watched{};
};

// `values`: the folders of a foreign contestant.
ServerOrder server_order(const ProcessSetup& setup, const TrialOrder& order, CommandValues values = {});
LoadOrder load_order(const ProcessSetup& setup, const TrialOrder& order);

// Returns the shell that runs a command on these CPUs ("any", or empty: on all).
ChildCommand shell_command(const std::string& text, const std::string& cpus);

}  // namespace joust::race
