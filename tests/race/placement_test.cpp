// SPDX-License-Identifier: MIT
#include "race/set_up/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "race/fake_catalogue.hpp"

namespace joust::race {
namespace {

// A machine of equal cores, numbered as Linux does: the first hardware thread of every core, then the second.
std::vector<CpuPlace> machine(int packages, int cores_of_package, int threads_of_core = 1) {
  const int cores = packages * cores_of_package;
  std::vector<CpuPlace> places;
  for (int cpu = 0; cpu < cores * threads_of_core; ++cpu)
    places.push_back({.cpu = cpu, .package = cpu % cores / cores_of_package, .core = cpu % cores});
  return places;
}

// Four little cores, then four big ones.
std::vector<CpuPlace> big_little() {
  std::vector<CpuPlace> places = machine(1, 8);
  for (CpuPlace& place : places) place.capacity = place.cpu < 4 ? 446 : 1024;
  return places;
}

class Placement : public testing::Test {
 protected:
  // "SERVER / CLIENT"
  std::string chosen(const std::vector<CpuPlace>& allowed, std::uint64_t server_loops = 1,
                     std::uint64_t client_loops = 1) {
    scenario.contestants.front().server.threads = server_loops;
    scenario.contestants.front().client.threads = client_loops;
    plan = choose_cpus(scenario, allowed);
    return plan.server + " / " + plan.client;
  }
  bool remarked(const std::string& words) const {
    return std::ranges::any_of(plan.remarks, [&](const auto& remark) { return remark.contains(words); });
  }

  Scenario scenario = fake_scenario({"threads", "epoll"});
  CpuPlan plan;
};

TEST_F(Placement, OfOneCpuIsFree) {
  EXPECT_EQ(chosen(machine(1, 1)), "any / any");
  EXPECT_EQ(chosen(machine(1, 1), 4, 4), "any / any");
}

TEST_F(Placement, OfTwoCoresGivesEachSideOne) {
  EXPECT_EQ(chosen(machine(1, 2)), "0 / 1");
  EXPECT_EQ(chosen(machine(1, 2), 2, 1), "0 / 1");
  EXPECT_EQ(chosen(machine(1, 2), 1, 64), "0 / 1");
  EXPECT_TRUE(plan.remarks.empty());
}

TEST_F(Placement, OfFourCoresFollowsTheLoops) {
  EXPECT_EQ(chosen(machine(1, 4)), "0 / 1");
  EXPECT_EQ(chosen(machine(1, 4), 2, 1), "0-1 / 2");
  EXPECT_EQ(chosen(machine(1, 4), 1, 3), "0 / 1-3");
  EXPECT_EQ(chosen(machine(1, 4), 4, 4), "0-1 / 2-3") << "the shares of both are equal";
  EXPECT_EQ(chosen(machine(1, 4), 12, 4), "0-2 / 3");
  EXPECT_EQ(chosen(machine(1, 4), 1, 64), "0 / 1-3");
}

TEST_F(Placement, NeverPutsBothSidesOnOneCore) {
  const auto eight = machine(1, 4, 2);  // CPU 0 and 4 are one core
  EXPECT_EQ(chosen(eight), "0 / 1");
  EXPECT_EQ(chosen(eight, 2, 2), "0-1 / 2-3");
  EXPECT_EQ(chosen(eight, 4, 4), "0-1,4-5 / 2-3,6-7");
  EXPECT_EQ(chosen(eight, 3, 3), "0-1,4 / 2-3,6");
  EXPECT_EQ(chosen(eight, 8, 1), "0-2,4-6 / 3");
  EXPECT_TRUE(plan.remarks.empty());
}

TEST_F(Placement, NeighbouringNumbersMayBeOneCore) {
  std::vector<CpuPlace> places = machine(1, 4);
  for (CpuPlace& place : places) place.core = place.cpu / 2 * 2;
  EXPECT_EQ(chosen(places), "0 / 2");
  EXPECT_EQ(chosen(places, 2, 2), "0-1 / 2-3");
}

TEST_F(Placement, OfOneCoreSaysThatBothSidesAreOnIt) {
  EXPECT_EQ(chosen(machine(1, 1, 2)), "0 / 1");
  EXPECT_TRUE(remarked("server (CPU 0) and client (CPU 1) are hardware threads of one core"));
}

TEST_F(Placement, StaysInOneSocket) {
  const auto large = machine(2, 32);
  EXPECT_EQ(chosen(large), "0 / 1");
  EXPECT_EQ(chosen(large, 20, 12), "0-19 / 20-31");
  EXPECT_EQ(chosen(large, 64, 64), "0-15 / 16-31") << "both have their share";
  const auto threaded = machine(2, 16, 2);
  EXPECT_EQ(chosen(threaded, 64, 64), "0-7,32-39 / 8-15,40-47");
  EXPECT_TRUE(plan.remarks.empty());
  const std::vector<CpuPlace> rest(large.begin() + 31, large.end());  // one CPU of the first socket
  EXPECT_EQ(chosen(rest), "32 / 33");
}

TEST_F(Placement, PrefersTheBigCores) {
  EXPECT_EQ(chosen(big_little()), "4 / 5");
  EXPECT_EQ(chosen(big_little(), 8, 8), "4-5 / 6-7") << "all of one kind";
  std::vector<CpuPlace> one_is_faster = big_little();
  one_is_faster.back().capacity = 1200;
  EXPECT_EQ(chosen(one_is_faster), "4 / 5") << "of which there are two";
  EXPECT_TRUE(plan.remarks.empty());
}

TEST_F(Placement, WhatTheScenarioSaysStays) {
  scenario.cpus.server = "1";
  EXPECT_EQ(chosen(machine(1, 2)), "1 / 0");
  EXPECT_EQ(chosen(machine(1, 4, 2)), "1 / 0");
  EXPECT_EQ(chosen(machine(1, 4, 2), 1, 4), "1 / 0,2-4");
  scenario.cpus.server = "any";
  EXPECT_EQ(chosen(machine(1, 2)), "any / 0");
  scenario.cpus = {.server = "0", .client = "any"};
  EXPECT_EQ(chosen(machine(1, 2)), "0 / any");
  scenario.cpus = {.server = {}, .client = "40"};
  EXPECT_EQ(chosen(machine(2, 32)), "32 / 40") << "in its socket";
  scenario.cpus.client = "4";
  EXPECT_EQ(chosen(big_little()), "5 / 4") << "on a core of its kind";
}

TEST_F(Placement, WhereNothingElseIsLeftItIsSaid) {
  scenario.cpus.server = "0-1";
  EXPECT_EQ(chosen(machine(1, 2)), "0-1 / any");
  scenario.cpus.server = "0-31";
  EXPECT_EQ(chosen(machine(2, 32)), "0-31 / 32");
  EXPECT_TRUE(remarked("are on different sockets"));
  scenario.cpus.server = "4-7";
  EXPECT_EQ(chosen(big_little()), "4-7 / 0");
  EXPECT_TRUE(remarked("are on cores of different speed"));
  scenario.cpus.server = "0";
  EXPECT_EQ(chosen(machine(1, 1, 2)), "0 / 1");
  EXPECT_TRUE(remarked("hardware threads of one core"));
}

TEST_F(Placement, WhatWasAskedForIsRemarkedOnToo) {
  scenario.cpus = {.server = "0", .client = "4"};
  EXPECT_EQ(chosen(machine(1, 4, 2)), "0 / 4");
  EXPECT_TRUE(remarked("hardware threads of one core"));
  scenario.cpus.client = "0";
  EXPECT_EQ(chosen(machine(1, 4, 2)), "0 / 0");
  EXPECT_TRUE(plan.remarks.empty()) << "the check of interference says that";
}

class ClientThreads : public Placement {
 protected:
  std::uint64_t loops_on(const std::vector<CpuPlace>& allowed, std::uint64_t server_loops = 1) {
    scenario.contestants.front().server.threads = server_loops;
    for (Contestant& contestant : scenario.contestants) contestant.client = client;
    choose_client_threads(scenario, catalogue, allowed, most_loops(scenario, &Contestant::server));
    return scenario.contestants.back().client.threads;
  }

  Catalogue catalogue = fake_catalogue();
  EngineChoice client{.engine = "epoll"};
};

TEST_F(ClientThreads, AreAsManyAsThereAreCoresForUpToTwoForALoopOfTheServer) {
  EXPECT_EQ(loops_on(machine(1, 1)), 1U);
  EXPECT_EQ(loops_on(machine(1, 2)), 1U);
  EXPECT_EQ(loops_on(machine(1, 4)), 2U);
  EXPECT_EQ(loops_on(machine(1, 8, 2)), 2U);
  EXPECT_EQ(loops_on(machine(1, 8), 3), 5U);
  EXPECT_EQ(loops_on(machine(2, 32), 8), 16U);
  EXPECT_EQ(loops_on(big_little(), 2), 2U) << "the big cores only";
}

TEST_F(ClientThreads, HaveAllCoresOfAHostWithoutServers) {
  choose_client_threads(scenario, catalogue, machine(1, 2), 0);
  EXPECT_EQ(scenario.contestants.back().client.threads, 2U);
}

TEST(PlacementOfOneSide, TakesACoreForEachLoop) {
  EXPECT_EQ(choose_cpus_alone("", 2, machine(1, 4, 2)), "0-1");
  EXPECT_EQ(choose_cpus_alone("", 9, machine(2, 4)), "0-3") << "of one socket";
  EXPECT_EQ(choose_cpus_alone("", 2, big_little()), "4-5") << "the fast ones";
  EXPECT_EQ(choose_cpus_alone("", 1, machine(1, 1)), "0") << "no other side needs it";
  EXPECT_EQ(choose_cpus_alone("3", 1, machine(1, 4)), "3") << "what was asked for";
}

TEST_F(ClientThreads, OfAPinnedClientAreNoMoreThanItsCpus) {
  scenario.cpus.client = "4-5";
  EXPECT_EQ(loops_on(machine(1, 8), 4), 2U);
}

TEST_F(ClientThreads, AreNoMoreThanConnections) {
  scenario.cases.front().load.connections = 1;
  EXPECT_EQ(loops_on(machine(1, 8)), 1U);
}

TEST_F(ClientThreads, ThatAreGivenStay) {
  client.threads_given = true;
  EXPECT_EQ(loops_on(machine(1, 8)), 1U);
}

TEST_F(ClientThreads, OfEnginesWithoutLoopsStay) {
  client.engine = "threads";
  EXPECT_EQ(loops_on(machine(1, 8)), 1U);
}

}  // namespace
}  // namespace joust::race
