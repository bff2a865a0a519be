// SPDX-License-Identifier: MIT
#include "race/checks_fixture.hpp"
#include "race/judgement/judge.hpp"

namespace joust::race {
namespace {

class ExitCode : public Checks {
 protected:
  RaceResult judged_race() {
    RaceResult result = race();
    judge(result);
    return result;
  }
};

TEST_F(ExitCode, OfAContestantThatDiesAtItsStart) {
  plant("epoll", [](Trial& trial) {
    trial.load.reset();
    trial.failure = "the server ended before it could accept a connection";
  });
  RaceResult result = judged_race();
  EXPECT_EQ(exit_code(result), 3);
  EXPECT_EQ(invalid_because(result), "epoll is not ranked");
  result.scenario.allow_unranked = true;
  EXPECT_EQ(exit_code(result), 0);
}

TEST_F(ExitCode, OfAContestantThatCannotRunHere) {
  scenario.contestants.push_back(racer("broken"));
  RaceResult result = judged_race();
  EXPECT_EQ(exit_code(result), 3);
  EXPECT_EQ(invalid_because(result), "broken is not ranked");
  result.scenario.allow_unranked = true;
  EXPECT_EQ(exit_code(result), 0);
}

TEST_F(ExitCode, OfARaceThatTellsNothing) {
  scenario.rounds = 1;
  RaceResult result = judged_race();
  EXPECT_EQ(exit_code(result), 3);
  EXPECT_EQ(invalid_because(result), "the race tells nothing of its contestants");
  result.scenario.allow_unranked = true;
  EXPECT_EQ(exit_code(result), 3)
      << "a scenario that allows missing contestants does not allow an empty result";
  result.scenario.allow_nothing = true;
  EXPECT_EQ(exit_code(result), 0);
}

// One rate of several may be too noisy; the others are a result.
TEST_F(ExitCode, OfARaceWhoseOtherCaseTellsSomethingIsThatOfAResult) {
  const RaceResult telling = judged_race();
  ASSERT_EQ(exit_code(telling), 0);
  scenario.rounds = 1;
  RaceResult result = judged_race();
  ASSERT_EQ(exit_code(result), 3);
  result.cases.push_back(result.cases.front());
  EXPECT_EQ(exit_code(result), 3);
  result.cases.push_back(telling.cases.front());
  EXPECT_EQ(exit_code(result), 0);
}

TEST_F(ExitCode, OfEqualContestantsIsThatOfAResult) {
  runner.throughput = {{"threads", 50e3}, {"epoll", 50e3}, {"io-uring", 50e3}};
  EXPECT_EQ(exit_code(judged_race()), 0);
}

TEST_F(ExitCode, OfNobodyThatIsSoundCannotBeAllowed) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) {
    trial.load.reset();
    trial.failure = "it hung";
  };
  scenario.allow_unranked = true;
  const RaceResult result = judged_race();
  EXPECT_EQ(exit_code(result), 3);
  EXPECT_EQ(invalid_because(result), "no contestant can be ranked");
}

TEST_F(ExitCode, NamesTheCaseOfSeveral) {
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "second";
  runner.alter = [](const TrialOrder& order, std::size_t, Trial& trial) {
    if (order.load_case.name == "second" && order.entry.contestant.name == "epoll")
      trial.load->messages.failed = 1;
  };
  EXPECT_EQ(invalid_because(judged_race()), "second: epoll is not ranked");
}

}  // namespace
}  // namespace joust::race
