// SPDX-License-Identifier: MIT
#include "race/hosts/hosts_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "race/hosts/hosted_transfer.hpp"
#include "race/hosts/meeting.hpp"
#include "race/hosts/remote_sides.hpp"
#include "race/hosts/side_json.hpp"
#include "race/scenario/shell_command.hpp"
#include "race/set_up/placement.hpp"
#include "race/trial/external.hpp"
#include "race/trial/sides.hpp"
#include "race/trial/transfer_trial.hpp"

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

// Runs one command that moves files from or to the host of its server, once. The time is that of the whole
// command on its own host. `number`: of the contestant, on both hosts.
Trial run_transfer(const RaceHosts& hosts, const TrialOrder& order, std::uint64_t number, ServerOrder serving,
                   TransferOrder moving, const Stop& stop) {
  return HostsTransfer(hosts, order, number, std::move(serving), std::move(moving), stop).run();
}

std::vector<int> list_of(const std::string& cpus) {
  const std::set<int> set = cpus_in(cpus);
  return {set.begin(), set.end()};
}

constexpr int kSamplesOfClock = 16;  // before each generation

// The limits of a lead, and the part of it for each host: the relay may sleep for so long as it sends.
constexpr Duration kLeastLead = std::chrono::milliseconds(10), kMostLead = std::chrono::milliseconds(250);
constexpr Duration kToSend = std::chrono::milliseconds(1);

// Returns a setup whose processes run on the CPUs of their hosts.
ProcessSetup with_cpus(ProcessSetup setup, const std::string& server, const std::string& client) {
  setup.cpus = {.server = server, .client = client};
  return setup;
}

bool has_load(const RaceHosts& hosts, const std::string& boot_id, std::size_t before) {
  const auto end = hosts.loads.begin() + static_cast<std::ptrdiff_t>(before);
  return std::find_if(hosts.loads.begin(), end,
                      [&](const RaceHost& load) { return load.boot_id == boot_id; }) != end;
}

ServerOrder server_order(const ProcessSetup& setup, const RaceHosts& hosts, const TrialOrder& order) {
  const RaceHost& host = hosts.server;
  Entry there = order.entry;
  there.listen = listening_on(order.entry.listen, host.address);
  ServerOrder made = server_order(with_cpus(setup, host.cpus, "any"),
                                  {.load_case = order.load_case, .entry = there}, {.address = host.address});
  if (there.listen != order.entry.listen && !made.command.foreign && !made.command.program.empty())
    made.command.words.emplace_back("--public");
  if (!order.entry.in_process && !has_load(hosts, host.boot_id, hosts.loads.size()))
    made.watched = PinnedCpus{.all = list_of(host.cpus), .server = list_of(host.cpus)};
  return made;
}

// The CPUs of each kernel are looked at once: by the load of its first host, which has those of the server in
// sight too if it runs there.
std::optional<PinnedCpus> watched_by(std::size_t load, const RaceHosts& hosts, bool in_process) {
  const RaceHost& host = hosts.loads[load];
  if (has_load(hosts, host.boot_id, load)) return std::nullopt;
  if (host.boot_id == hosts.server.boot_id)
    return pinned_cpus({.server = hosts.server.cpus, .client = host.cpus}, in_process);
  return PinnedCpus{.all = list_of(host.cpus), .client = list_of(host.cpus)};
}

// Returns the parts of a load, without their links.
std::vector<LoadHost> load_hosts(const ProcessSetup& setup, const RaceHosts& hosts, const TrialOrder& order) {
  std::vector<LoadHost> made;
  for (std::size_t i = 0; i < hosts.loads.size(); ++i) {
    const RaceHost& host = hosts.loads[i];
    Case part = order.load_case;
    part.load = share_of(order.load_case.load, i, hosts.loads.size());
    if (hosts.loads.size() > 1) part.turn.ramp = {};  // they do not begin at the same instant
    LoadHost load{
        .order = load_order(with_cpus(setup, "any", host.cpus), {.load_case = part, .entry = order.entry})};
    load.order.watched = watched_by(i, hosts, order.entry.in_process);
    made.push_back(std::move(load));
  }
  return made;
}

TransferOrder transfer_order(const ProcessSetup& setup, const RaceHosts& hosts, const TrialOrder& order) {
  return {.command = shell_command(order.entry.contestant.transfer, hosts.loads.front().cpus),
          .values = {.address = hosts.server.address},
          .patience = most_time(setup.scenario.limits, order.load_case.load),
          .watched = watched_by(0, hosts, false)};
}

// A contestant that has failed is not to blame where a host that loads does not reach the server's any more.
void blame_network(const RaceHosts& hosts, Trial& trial) {
  if (trial.failure.empty() || trial.host_lost || trial.interrupted || trial.refused || trial.not_found)
    return;
  for (const RaceHost& load : hosts.loads) {
    const auto report = ask_for_report(*load.link, {.towards = hosts.server.address});
    if (report && (report->round_trip || !load.is_answered)) continue;
    trial.host_lost = true;
    trial.failure =
        report ? fmt::format("host {}: it does not reach {}, the address of the servers: the network is lost",
                             load.link->name(), hosts.server.address)
               : report.error();
    return;
  }
}

// The clocks of the hosts that load, when their turns have begun, and how they begin.
struct Measured {
  const std::vector<ClockOffset>& clocks;
  std::vector<Begins>& begins;
  StartOfTurns start{};
};

class HostsGeneration : public Generation {
 public:
  // The sides of an earlier generation that are left on a host are killed: it may have been out of reach at
  // their end.
  HostsGeneration(const ProcessSetup& setup, const RaceHosts& hosts, Measured measured,
                  const std::vector<TrialOrder>& orders, std::uint64_t& next_number)
      : hosts_(hosts) {
    for (const RaceHost& load : hosts.loads) links_.try_emplace(load.link, *load.link);
    links_.try_emplace(hosts.server.link, *hosts.server.link);
    for (auto& [host, link] : links_) (void)link.call({{"do", "clear"}}, kForAnswer);
    TrialLink& server = links_.at(hosts.server.link);
    for (const TrialOrder& order : orders) {
      const std::uint64_t number = next_number++;
      std::vector<LoadHost> loads = load_hosts(setup, hosts, order);
      for (std::size_t i = 0; i < loads.size(); ++i) {
        loads[i].link = &links_.at(hosts.loads[i].link);
        loads[i].clock_offset = measured.clocks[i].offset;
        loads[i].begins = &measured.begins[i];
      }
      contenders_.push_back(std::make_unique<Contender>(
          std::make_unique<RemoteServer>(server, number, server_order(setup, hosts, order)),
          std::make_unique<RemoteLoads>(std::move(loads), number, measured.start), order.entry.client_forks,
          setup.stop));
    }
  }

  bool start(std::size_t contestant) override { return contenders_[contestant]->start(); }
  std::optional<Turn> take_turn(std::size_t contestant, TurnSize size, bool recorded) override {
    return contenders_[contestant]->take_turn(size, recorded);
  }
  Trial finish(std::size_t contestant) override {
    Trial trial = contenders_[contestant]->finish();
    blame_network(hosts_, trial);
    return trial;
  }

 private:
  const RaceHosts& hosts_;
  std::map<HostLink*, TrialLink> links_;
  std::vector<std::unique_ptr<Contender>> contenders_;
};

}  // namespace

// Other places than loopback are reached from every host, like a multicast group.
std::string listening_on(const std::string& listen, const std::string& address) {
  constexpr std::string_view kLoopback = "127.0.0.1:";
  return listen.starts_with(kLoopback) ? host_and_port(address, listen.substr(kLoopback.size())) : listen;
}

LoadPlan share_of(const LoadPlan& load, std::size_t host, std::size_t hosts) {
  if (hosts == 1) return load;
  const std::uint64_t first = load.connections * host / hosts, end = load.connections * (host + 1) / hosts;
  LoadPlan part = load;
  part.connections = end - first;
  part.rate_per_s =
      load.rate_per_s * static_cast<double>(part.connections) / static_cast<double>(load.connections);
  part.first_connection = first;
  part.all_connections = load.connections;
  return part;
}

// A host that does not answer fails the trials that follow, with the reason.
void HostsRunner::measure_clocks() {
  clocks_.resize(hosts_.loads.size());
  begins_.resize(hosts_.loads.size());
  if (hosts_.loads.size() < 2) return;
  for (std::size_t i = 0; i < clocks_.size(); ++i)
    if (const auto clock = measure_clock(*hosts_.loads[i].link, kSamplesOfClock)) clocks_[i] = *clock;
}

// Returns how long before its begin a turn is asked for: the slowest round trip to a host that loads, and as
// long for each host to which the request is sent before the last one.
Duration HostsRunner::lead() const {
  if (hosts_.loads.size() < 2) return {};
  Duration slowest{};
  for (const ClockOffset& clock : clocks_)
    slowest = std::max(slowest, clock.slowest_round_trip + clock.error);
  return std::clamp(slowest + kToSend * static_cast<int>(hosts_.loads.size()), kLeastLead, kMostLead);
}

std::unique_ptr<Generation> HostsRunner::generation(std::vector<TrialOrder> orders) {
  return generation(orders, true);
}

std::unique_ptr<Generation> HostsRunner::generation(const std::vector<TrialOrder>& orders, bool forgives) {
  measure_clocks();
  const StartOfTurns start{.lead = lead(), .forgives_once = forgives};
  return std::make_unique<HostsGeneration>(
      setup_, hosts_, Measured{.clocks = clocks_, .begins = begins_, .start = start}, orders, next_number_);
}

// One turn for the warm-up, and one as long as the window.
Trial HostsRunner::run(const TrialOrder& order) {
  if (order.load_case.files) {
    Trial moved = run_transfer(hosts_, order, next_number_++, server_order(setup_, hosts_, order),
                               transfer_order(setup_, hosts_, order), setup_.stop);
    blame_network(hosts_, moved);
    return moved;
  }
  Case in_turns = order.load_case;
  LoadPlan& load = in_turns.load;
  const std::uint64_t messages = load.messages.value_or(0);
  load.turns = true;
  load.counted_turns = messages > 0;
  in_turns.turn.rest = load.duration;
  const auto alive = generation({{.load_case = in_turns, .entry = order.entry}}, false);
  const bool warms_up = load.warmup > Duration{} && messages == 0;
  const TurnSize whole{.time = messages > 0 ? Duration{} : load.duration, .messages = messages};
  std::optional<Turn> turn;
  if (alive->start(0) && (!warms_up || alive->take_turn(0, {.time = load.warmup}, false)))
    turn = alive->take_turn(0, whole, true);
  Trial trial = alive->finish(0);
  if (turn) {
    turn->number = turn->order = 1;
    trial.turns_throughput_per_s = turn->throughput_per_s();
    trial.turns_server_cpu_us_per_message = turn->server_cpu_us_per_message();
    trial.turns.push_back(*turn);
  }
  return trial;
}

}  // namespace joust::race
