// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/arguments.hpp"
#include "cli/common/command.hpp"
#include "cli/common/side_arguments.hpp"
#include "cli/load/conducting.hpp"
#include "cli/load/hosts_arguments.hpp"
#include "cli/load/progress.hpp"
#include "connection/tally.hpp"
#include "hosting/loading.hpp"
#include "load/search.hpp"
#include "load/shown_messages.hpp"
#include "net/stop.hpp"
#include "net/target.hpp"

// The sub-command `load`: ../load.cpp has its options, run.cpp its work, and over_hosts.cpp that of several
// hosts.
namespace joust {

// The target of a load, and the options of its engine.
struct Loaded {
  const Engine& engine;
  const Protocol& protocol;
  const EngineOptions options;
  const Target* target;  // null in process
  Tally& tally;
};

struct Load {
  const Program& program;
  EngineArguments engine{};
  SocketArguments socket{};
  Limits limits{};
  SettingArguments load{};  // the settings that were given
  std::string planned{};    // --plan: a file, or the text itself
  LoadPlan plan{};
  bool turns_asked = false, counted_turns_asked = false;
  std::optional<Option> ramp_option{};
  Duration ramp{};  // of each turn; 0: a share of it
  Parameters parameters{};
  std::optional<Option> search_option{}, json_option{};
  std::optional<Option> search_time_option{};
  Duration search_time = std::chrono::seconds(30);
  std::string wanted{};                  // the text of --search
  std::optional<Criterion> criterion{};  // the criterion of --search, parsed
  ProtocolArguments protocol{};
  HostsArguments hosts{};
  std::optional<LoadPartArguments> part{};  // this process is a part of a load over several hosts
  std::optional<StartTime> start{};         // delays the start
  Time begins{};                            // the time of --start-at
  std::string connect{};
  std::string url{};        // http://... or ws://..., in place of -p, --connect, --path and --host
  bool secure_url = false;  // https:// or wss://
  std::string json{};
  std::string progress{};  // interval as text, or "none"
  std::optional<Option> progress_option{};
  Duration progress_every{};  // 0: no lines
  bool events = false;
  std::uint64_t tries = 0;  // --try: messages that are shown, in place of a measurement; 0: none
  MessageTrace trace{};     // shows them
  std::optional<TurnTaking> turns{};
  LoadProgress* lines = nullptr;  // the progress lines of the running load, if it has any
  std::mutex watching{};
  Time opened_at{};  // time of this process's first reading of its usage
  Usage before{}, used{};
  Duration used_over{};  // time from the first reading to the last
  bool forks = false;    // the engine has processes, which are part of this load

  int run();
  void take_planned();
  void take_url();
  void check(const Engine& chosen, const Protocol& chosen_protocol);
  void make_plan(const Protocol& chosen_protocol);
  void prepare_search();
  void prepare_progress();
  std::vector<std::string> remarks(const Engine& chosen) const;
  Loading loading(const Loaded& whom, Tally& tally) const;
  LoadResult measure(const Loaded& whom);
  LoadResult drive(Loading& loading, const Loaded& whom, Stop& stop);
  std::string write_result_of(const Loaded& whom, const LoadResult& result) const;
  void write_unresolved(const Loaded& whom, const std::string& why) const;
  std::string heading(const Loaded& whom) const;
  int measure_once(const Loaded& whom);
  int search(const Loaded& whom);
  int show_messages(const Loaded& whom);
  void watch(LoadRun::Milestone milestone);
  void look_again(Time now);
  Usage times() const;
  // `whom`: null for a load of several hosts.
  std::string trouble(const Loaded* whom, const LoadResult& result) const;
  void emit(std::string_view event) const;
  nlohmann::ordered_json document(const char* schema, const Loaded& whom) const;
  Settings stated_options(const Loaded& whom) const;
  std::string write(const nlohmann::ordered_json& document) const;
};

// Checks the arguments of a load over several hosts, and conducts it or starts the hosts. Returns the exit
// code.
int load_over_hosts(Load& load);

}  // namespace joust
