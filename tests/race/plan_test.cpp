// SPDX-License-Identifier: MIT
#include "race/run/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "race/fake_catalogue.hpp"

namespace joust::race {
namespace {

std::vector<std::string> names(const Plan& plan, std::uint64_t round, std::uint64_t attempt = 1) {
  std::vector<std::string> names;
  for (const Slot& slot : order_of_round(plan, round, attempt))
    names.push_back(plan.cases[slot.case_index].entries[slot.entry_index].contestant.name);
  return names;
}

TEST(Plan, ARoundRunsEveryContestantOnceAndTheReferenceTwice) {
  const Plan plan = make_plan(fake_scenario({"threads", "epoll", "io-uring"}), fake_catalogue(), 1);
  for (std::uint64_t round = 4; round <= 5; ++round) {
    const auto order = names(plan, round);
    EXPECT_EQ(std::multiset<std::string>(order.begin(), order.end()),
              (std::multiset<std::string>{"threads", "threads (again)", "epoll", "io-uring"}));
  }
}

// Where the server's work is most of it, a server in the client's process is no ceiling.
TEST(Plan, AProtocolMayHaveNoCeiling) {
  Scenario scenario = fake_scenario({"threads"});
  scenario.cases.front().protocol = "disk";
  const auto order = names(make_plan(scenario, fake_catalogue(), 1), 1);
  EXPECT_EQ(std::multiset<std::string>(order.begin(), order.end()),
            (std::multiset<std::string>{"threads", "threads (again)"}));
}

TEST(Plan, WhoCannotCarryTheProtocolIsLeftOutWithTheReason) {
  Scenario scenario = fake_scenario({"threads", "epoll"});
  scenario.contestants.push_back(racer("epoll", "threads"));
  scenario.contestants.back().name = "from threads";
  Catalogue catalogue = fake_catalogue();
  catalogue.protocols.front().unsupported = {{"threads", "unsupported: a reason"}};
  catalogue.protocols.front().unsupported_clients = {{"threads", "unsupported: a reason"}};
  const Plan plan = make_plan(scenario, catalogue, 1);
  const std::vector<Entry>& entries = plan.cases.front().entries;
  EXPECT_EQ(entries[0].reason, "unsupported: a reason");
  EXPECT_EQ(entries[1].reason, "");
  EXPECT_EQ(entries[2].reason, "unsupported: a reason");
  const auto order = names(plan, 4);
  EXPECT_EQ(std::multiset<std::string>(order.begin(), order.end()),
            (std::multiset<std::string>{"epoll", "epoll (again)"}));
}

TEST(Plan, AnEntryKnowsTheSocketsAndTheAddressOfItsEngines) {
  Catalogue catalogue = fake_catalogue();
  Engine datagrams = fake_engine("threads");
  datagrams.transport = Transport::datagram;
  datagrams.group = "239.255.0.1:0";
  catalogue.engines[1] = {.engine = &datagrams};
  Scenario scenario = fake_scenario({"threads", "epoll"});
  scenario.contestants.push_back(racer("epoll", "threads"));
  scenario.contestants.back().name = "from threads";
  const Plan plan = make_plan(scenario, catalogue, 1);
  const std::vector<Entry>& entries = plan.cases.front().entries;
  EXPECT_FALSE(entries[0].server_tcp);
  EXPECT_TRUE(entries[0].client_tcp);
  EXPECT_EQ(entries[0].listen, "239.255.0.1:0");
  EXPECT_TRUE(entries[1].server_tcp && entries[1].client_tcp);
  EXPECT_EQ(entries[1].listen, "127.0.0.1:0");
  EXPECT_FALSE(entries[2].client_tcp);
}

// The objection is asked with the options and the load of each case.
TEST(Plan, WhoseEnginesCannotDoWhatOptionsAskIsLeftOutWithTheReason) {
  Scenario scenario = fake_scenario({"threads", "epoll"});
  scenario.cases.front().protocol = "room";
  scenario.cases.front().options = {{"flush", "each"}, {"seats", "3"}};
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().load.connections = 1;
  Catalogue catalogue = fake_catalogue();
  catalogue.protocols.back().objection = [](const Entry& entry, const Case& one) {
    const bool meant = entry.contestant.server.engine == "threads" &&
                       entry.server_options.at("flush") == "each" &&
                       entry.client_options.at("seats") == "3" && one.load.connections > 1;
    return std::string(meant ? "unsupported: a reason" : "");
  };
  const Plan plan = make_plan(scenario, catalogue, 1);
  EXPECT_EQ(plan.cases[0].entries[0].reason, "unsupported: a reason");
  EXPECT_EQ(plan.cases[0].entries[1].reason, "");
  EXPECT_EQ(plan.cases[0].reference, "epoll");
  EXPECT_EQ(plan.cases[1].entries[0].reason, "") << "with one connection it can";
}

TEST(Plan, AnEngineInProcessThatCannotCarryTheProtocolIsNoCeiling) {
  Catalogue catalogue = fake_catalogue();
  catalogue.protocols.front().unsupported_clients = {{"null", "unsupported: a reason"}};
  const Plan plan = make_plan(fake_scenario({"threads"}), catalogue, 1);
  EXPECT_EQ(plan.cases.front().no_ceiling, "unsupported: a reason");
}

// In each round, how often the one ceiling of clients that are set up alike.
std::vector<std::ptrdiff_t> ceilings(std::uint64_t rounds) {
  const Plan plan = make_plan(fake_scenario({"threads", "epoll"}, rounds), fake_catalogue(), 1);
  std::vector<std::ptrdiff_t> counts;
  for (std::uint64_t round = 1; round <= rounds; ++round)
    counts.push_back(std::ranges::count(names(plan, round), "ceiling (null)"));
  EXPECT_EQ(trials_in(plan), rounds * 3 + 1);
  return counts;
}

TEST(Plan, TheCeilingIsMeasuredOnce) {
  EXPECT_EQ(ceilings(5), (std::vector<std::ptrdiff_t>{1, 0, 0, 0, 0}));
  EXPECT_EQ(ceilings(1), (std::vector<std::ptrdiff_t>{1}));
}

TEST(Plan, AClientThatSpinsHasACeilingOfItsOwn) {
  Scenario scenario = fake_scenario({"threads", "epoll"});
  scenario.contestants[1].client.wait = "spin";
  const Plan plan = make_plan(scenario, fake_catalogue(), 1);
  EXPECT_EQ(std::ranges::count(names(plan, 1), "ceiling (null)"), 1);
  EXPECT_EQ(std::ranges::count(names(plan, 1), "ceiling (null:wait=spin)"), 1);
}

TEST(Plan, ACeilingDoesWithoutWhatCostsTheServersTime) {
  Scenario scenario = fake_scenario({"epoll"});
  scenario.cases.front().protocol = "room";
  scenario.cases.front().options = {{"flush", "each"}, {"labour", "5ms"}};
  const Plan plan = make_plan(scenario, fake_catalogue(), 1);
  const auto ceiling = std::ranges::find(plan.cases.front().entries, EntryKind::ceiling,
                                         [](const Entry& e) { return e.kind; });
  ASSERT_NE(ceiling, plan.cases.front().entries.end());
  EXPECT_EQ(ceiling->client_options, (Settings{{"flush", "each"}}));
  EXPECT_EQ(plan.cases.front().entries.front().server_options.at("labour"), "5ms");
}

TEST(Plan, TheSeedAloneDecidesTheOrder) {
  const Scenario scenario = fake_scenario({"threads", "epoll", "io-uring"});
  const Plan one = make_plan(scenario, fake_catalogue(), 7);
  const Plan same = make_plan(scenario, fake_catalogue(), 7);
  const Plan other = make_plan(scenario, fake_catalogue(), 8);
  std::set<std::vector<std::string>> orders;
  bool differs = false;
  for (std::uint64_t round = 1; round <= 5; ++round) {
    EXPECT_EQ(names(one, round), names(same, round));
    differs |= names(one, round) != names(other, round);
    orders.insert(names(one, round));
  }
  EXPECT_TRUE(differs);
  EXPECT_GT(orders.size(), 2U) << "every round has an order of its own";
}

TEST(Plan, TheOrderOfASeedIsTheSameOnEveryMachine) {
  const Plan plan = make_plan(fake_scenario({"threads", "epoll", "io-uring"}), fake_catalogue(), 1);
  EXPECT_EQ(names(plan, 4), (std::vector<std::string>{"epoll", "io-uring", "threads", "threads (again)"}));
  EXPECT_NE(names(plan, 4, 2), names(plan, 4)) << "a round that is run again is shuffled again";
}

TEST(Plan, AnUnavailableEngineKeepsItsEntryAndDoesNotRun) {
  const Plan plan = make_plan(fake_scenario({"broken", "epoll", "threads"}), fake_catalogue(), 1);
  const Entry* broken = find_entry(plan.cases.front(), "broken");
  ASSERT_NE(broken, nullptr);
  EXPECT_FALSE(broken->ranked);
  EXPECT_EQ(broken->reason, "unavailable: io_uring_setup: Operation not permitted");
  EXPECT_EQ(std::ranges::count(names(plan, 1), "broken"), 0);
  EXPECT_EQ(plan.cases.front().reference, "epoll") << "the first that can run";
}

TEST(Plan, AChoiceThatCannotBeHadKeepsItsEntryToo) {
  Scenario scenario = fake_scenario({"pool", "epoll"});
  scenario.contestants.push_back(racer("pool"));
  scenario.contestants.back().name = "pool:by=ring";
  scenario.contestants.back().server.knobs["by"] = "ring";
  scenario.contestants.push_back(racer("threads", "pool"));
  scenario.contestants.back().client.knobs["by"] = "ring";
  const Plan plan = make_plan(scenario, fake_catalogue(), 1);
  const auto reason = [&](const char* name) { return find_entry(plan.cases.front(), name)->reason; };
  EXPECT_EQ(reason("pool"), "");
  EXPECT_EQ(reason("pool:by=ring"), "unavailable: by=ring: io_uring_setup: Operation not permitted");
  EXPECT_EQ(reason("threads"), "unavailable: client pool: by=ring: io_uring_setup: Operation not permitted");
}

TEST(Plan, ACommandWhoseProgramIsNotInstalledKeepsItsEntry) {
  Scenario scenario = fake_scenario({"epoll"});
  for (const char* program : {"nginx", "sh"}) {
    scenario.contestants.push_back({.name = program, .command = "serve {port}", .needs = {program}});
    scenario.contestants.back().client.engine = "epoll";
  }
  Catalogue catalogue = fake_catalogue();
  catalogue.has_program = [](const std::string& name) { return name == "sh"; };
  scenario.reference = "nginx";
  const Plan plan = make_plan(scenario, catalogue, 1);
  EXPECT_EQ(find_entry(plan.cases.front(), "nginx")->reason, "unavailable: nginx is not installed");
  EXPECT_EQ(find_entry(plan.cases.front(), "sh")->reason, "");
  EXPECT_EQ(plan.cases.front().reference, "epoll") << "the first that can run";
}

TEST(Plan, TheReferenceIsTheOneAskedFor) {
  Scenario scenario = fake_scenario({"threads", "epoll"});
  scenario.reference = "epoll";
  const Plan plan = make_plan(scenario, fake_catalogue(), 1);
  EXPECT_EQ(plan.cases.front().reference, "epoll");
  EXPECT_EQ(std::ranges::count(names(plan, 2), "epoll (again)"), 1);
}

TEST(Plan, EveryCaseHasItsOwnContestantsInTheSameRounds) {
  Scenario scenario = fake_scenario({"threads", "epoll"});
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "other";
  const Plan plan = make_plan(scenario, fake_catalogue(), 1);
  EXPECT_EQ(order_of_round(plan, 4).size(), 6U);
}

}  // namespace
}  // namespace joust::race
