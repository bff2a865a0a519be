// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/arguments.hpp"
#include "cli/common/command.hpp"
#include "cli/common/faces.hpp"
#include "cli/common/side_arguments.hpp"
#include "cli/hosts/cluster.hpp"
#include "race/hosts/meeting.hpp"
#include "race/run/plan.hpp"
#include "race/scenario/overrides.hpp"

// The sub-command `race`: ../race.cpp has its options, run.cpp its work, and over_hosts.cpp what it needs of
// several hosts.
namespace joust {

// The options of a race over several hosts.
struct RaceHostsArguments {
  std::string hosts{}, layout{}, fabric{}, lost_host{};

  void add_to(Command command);
  // Returns whether the race is over several hosts.
  bool conducts(const Program& program) const { return !hosts.empty() || program.rank; }
  // Checks the arguments, and starts the hosts if mpirun has not done it: then the exit code of the race is
  // returned. Throws UsageError.
  std::optional<int> start(const Program& program) const;
  race::LostHost when_lost() const {
    return lost_host == "end" ? race::LostHost::end : race::LostHost::again;
  }
};

// The hosts of a race, as its conductor sees them. This process is rank 0; it makes the first part of a load.
// One thread.
class HostsOfRace {
 public:
  // REQUIRES: mpirun has started the process. Throws UsageError, or std::runtime_error naming the host that
  // does not answer.
  HostsOfRace(const Program& program, const RaceHostsArguments& arguments);

  race::Meeting meet();

 private:
  const RaceHostsArguments& arguments_;
  const std::vector<std::string> names_;
  const bool on_one_host_;
  Cluster cluster_;
};

struct Race {
  const Program& program;
  std::string file{};
  race::Overrides flags{};
  SettingArguments load{}, own_flags{};  // settings of the load, and of the race itself
  ProtocolArguments protocol{};
  std::optional<std::string> client_threads{};
  std::string json{}, progress_as = "live";
  std::optional<Option> json_option{};
  FaceArguments faces{};
  bool dry_run = false, full = false, no_history = false, details = false;
  LastWords last_words{};
  RaceHostsArguments hosts{};
  std::unique_ptr<HostsOfRace> over{};           // the hosts of a race over several
  std::optional<race::Meeting> meeting{};        // of these
  std::vector<std::function<void()>> collect{};  // each stores one flag, if it was given

  void add_contestants_to(Command command);
  void add_load_to(Command command);
  void add_race_to(Command command);
  void add_own_below(Command command, std::string_view heading);
  void add_own_placed(Command command, std::string_view key);
  void find_file();
  void read_flags();
  int run();
  bool keeps_result() const { return json_option->given() && json != "-"; }
  race::Scenario scenario(const race::Catalogue& catalogue) const;
  std::vector<std::string> used_files() const { return {file, keeps_result() ? json : ""}; }
  void ensure_files() const;
  // `document`: of the result.
  std::string keep(const race::RaceResult& result, const report::page::Document& document) const;
  void show(const race::RaceResult& result, const report::page::Document& document) const;
  void add_to_history(const race::RaceResult& result, const std::string& document) const;
  std::unique_ptr<race::TrialRunner> runner(const race::Scenario& scenario, const race::CpuPlan& cpus,
                                            const Stop& stop) const;
  race::CpuPlan place(race::Scenario& scenario, const race::Catalogue& catalogue);
  int race_and_report(race::Scenario scenario, race::Plan plan, const race::CpuPlan& cpus,
                      const race::Catalogue& catalogue) const;

  // Adds an option with `add`; `into` stays empty if the option is not given.
  template <typename Value, typename Add>
  void add_optional(Command command, const std::string& names, std::optional<Value>& into,
                    const std::string& help, const char* group, Add add) {
    const auto value = std::make_shared<Value>();
    const Option option = add(command, names, *value, help).group(group);
    collect.push_back([value, option, &into] {
      if (option.given()) into = *value;
    });
  }
  void add_number(Command command, const std::string& names, std::optional<std::uint64_t>& into,
                  const std::string& help, const char* group, std::uint64_t most, std::uint64_t least = 1) {
    add_optional(command, names, into, help, group,
                 [=](Command sub, const auto& n, auto& value, const auto& text) {
                   return add_count(sub, n, value, text, least, most);
                 });
  }
  void add_time(Command command, const std::string& names, std::optional<Duration>& into,
                const std::string& help, const char* group, Duration least = {},
                Duration most = kLongestTime) {
    add_optional(command, names, into, help, group,
                 [=](Command sub, const auto& n, auto& value, const auto& text) {
                   return add_duration(sub, n, value, text, least, most);
                 });
  }
  void add_text(Command command, const std::string& names, std::optional<std::string>& into,
                const std::string& help, const char* group, const char* type) {
    add_optional(command, names, into, help, group,
                 [=](Command sub, const auto& n, auto& value, const auto& text) {
                   return sub.add_option(n, value, text).type_name(type);
                 });
  }
};

}  // namespace joust
