// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hosts/link.hpp"
#include "race/model/result.hpp"
#include "race/trial/process_family.hpp"
#include "race/trial/runner.hpp"

namespace joust::race {

// A host of a race, and the side that it runs.
struct RaceHost {
  HostLink* link = nullptr;
  std::string boot_id{};     // of its kernel: hosts with the same one share their CPUs
  std::string cpus = "any";  // on which its side runs
  std::string address{};     // of a server: where its contestants listen
  // Whether the host of a load got an answer from that of the servers when they met. A firewall may drop it.
  bool is_answered = false;
};

struct RaceHosts {
  RaceHost server{};
  std::vector<RaceHost> loads{};  // at least one; this host, if it is one of them, is the first
  bool server_loads() const {
    return std::ranges::any_of(loads, [&](const RaceHost& load) { return load.link == server.link; });
  }
};

// Runs trials whose servers are on one host and whose loads are on others. Also a trial with a window of its
// own is a turn there: no message may travel while it is measured. The links outlive the runner.
class HostsRunner : public TrialRunner {
 public:
  HostsRunner(ProcessSetup setup, RaceHosts hosts) : setup_(std::move(setup)), hosts_(std::move(hosts)) {}

  Trial run(const TrialOrder& order) override;
  std::unique_ptr<Generation> generation(std::vector<TrialOrder> orders) override;

  // Returns the clocks of the hosts that load, as they were measured last. Clocks drift, so those of several
  // hosts are measured before each generation.
  const std::vector<ClockOffset>& clocks() const { return clocks_; }
  // Returns how late the hosts that load have begun their turns, in their order; empty unless they are
  // several.
  const std::vector<Begins>& begins() const { return begins_; }

 private:
  std::unique_ptr<Generation> generation(const std::vector<TrialOrder>& orders, bool forgives);
  void measure_clocks();
  Duration lead() const;

  ProcessSetup setup_;
  const RaceHosts hosts_;
  std::vector<ClockOffset> clocks_{};
  std::vector<Begins> begins_{};
  std::uint64_t next_number_ = 1;  // of a contestant alive
};

// Returns where a server listens on its host's address that would listen on loopback alone.
std::string listening_on(const std::string& listen, const std::string& address);

// Returns the part of a load that a host makes: connections of its own numbers, with their part of the rate.
LoadPlan share_of(const LoadPlan& load, std::size_t host, std::size_t hosts);

}  // namespace joust::race
