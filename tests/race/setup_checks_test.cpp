// SPDX-License-Identifier: MIT
#include "race/checks_fixture.hpp"
#include "race/judgement/judge.hpp"

namespace joust::race {
namespace {

// 10

TEST_F(Checks, ADebugBuildIsRefused) {
  plant("epoll", [](Trial& trial) { trial.server.build.type = "Debug"; });
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_TRUE(found.invalidates);
  EXPECT_TRUE(has(found.detail, "a Debug build")) << found.detail;
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(Checks, ASanitizedBuildIsRefused) {
  plant("epoll", [](Trial& trial) { trial.client.build.sanitizers = "address,undefined"; });
  EXPECT_TRUE(check(10).invalidates);
}

TEST_F(Checks, DifferentSocketOptionsAreRefused) {
  plant("epoll", [](Trial& trial) { trial.server.socket["congestion"] = "bbr"; });
  const CheckResult found = check(10);
  EXPECT_TRUE(found.invalidates);
  EXPECT_TRUE(has(found.detail, "congestion: bbr for epoll, cubic for io-uring and threads")) << found.detail;
  EXPECT_EQ(exit_code(judged), 3);
}

TEST_F(Checks, AnOptionTheKernelDidNotGrantIsTold) {
  scenario.cases.front().socket.congestion = "bbr";
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "congestion is cubic where the scenario asked for bbr")) << found.detail;
}

TEST_F(Checks, ANodelayOfAContestantsOwnIsNoDifference) {
  plant("epoll", [](Trial& trial) { trial.server.socket["nodelay"] = "false"; });
  EXPECT_TRUE(check(10).invalidates);
  scenario.contestants[1].server.nodelay = false;
  EXPECT_EQ(check(10).verdict, Verdict::pass);
  scenario.contestants[1].server.nodelay = true;
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_TRUE(has(found.detail, "epoll: nodelay of its server's sockets is false")) << found.detail;
}

TEST_F(Checks, OptionsThatWereLeftOutAreTold) {
  scenario.cases.front().socket = {.nodelay = true, .congestion = "cubic"};
  RaceResult result = race();
  entry(result, "epoll").server_tcp = entry(result, "epoll").client_tcp = false;
  const CheckResult found = check(10, std::move(result));
  EXPECT_EQ(found.verdict, Verdict::pass);
  EXPECT_TRUE(has(found.detail, "nodelay and congestion left out for epoll, whose sockets are not of TCP"))
      << found.detail;
}

// The race of these tests has its servers on CPU 0 and its clients on CPU 1.
TEST_F(Checks, ThreadsThatRunElsewhereOrAsOthersAreTold) {
  const auto read_back = [&](const std::vector<ThreadGroup>& server) {
    plant("epoll", [=](Trial& trial) {
      trial.scheduling = Scheduling{.race = {.cpus = "0-1", .nice = 5, .policy = "other", .threads = 1},
                                    .server = server,
                                    .client = {{.cpus = "1", .nice = 5, .policy = "other", .threads = 1}}};
    });
    return check(10);
  };
  const ThreadGroup as_asked{.cpus = "0", .nice = 5, .policy = "other", .threads = 3};
  EXPECT_EQ(read_back({as_asked}).verdict, Verdict::pass);
  ThreadGroup other = as_asked;
  other.cpus = "1";
  CheckResult found = read_back({as_asked, other});
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(
      has(found.detail,
          "epoll: 3 threads of its server had CPU 1 where CPU 0 was asked for (CPUs of the other side "
          "are among them)"))
      << found.detail;
  other = as_asked;
  other.nice = 0;
  other.policy = "fifo";
  other.threads = 1;
  found = read_back({as_asked, other});
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(
      has(found.detail,
          "epoll: 1 thread of its server had nice 0 where the race has 5, policy fifo where the race has "
          "other"))
      << found.detail;
}

TEST_F(Checks, AnEngineThatFellBackIsNotRanked) {
  plant("io-uring", [](Trial& trial) { trial.server.engine = "epoll"; });
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_FALSE(found.invalidates);
  EXPECT_EQ(entry(judged, "io-uring").reason, "its server fell back from io-uring to epoll");
  EXPECT_FALSE(entry(judged, "io-uring").ranked);
}

TEST_F(Checks, AnEngineThatLacksAKernelFeatureIsNotRanked) {
  plant("io-uring", [](Trial& trial) { trial.server.missing = {"deferred task work (DEFER_TASKRUN)"}; });
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::refuse);
  EXPECT_FALSE(found.invalidates);
  EXPECT_EQ(entry(judged, "io-uring").reason, "io-uring ran without deferred task work (DEFER_TASKRUN)");
  EXPECT_FALSE(entry(judged, "io-uring").ranked);
  EXPECT_TRUE(entry(judged, "epoll").ranked);
}

TEST_F(Checks, AClientThatLacksAKernelFeatureBarsItsContestant) {
  plant("epoll", [](Trial& trial) { trial.load->missing = {"a feature"}; });
  check(10);
  EXPECT_EQ(entry(judged, "epoll").reason, "its client epoll ran without a feature");
}

TEST_F(Checks, JoustsOwnWishForACongestionControlIsHeldToo) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) {
    trial.client.socket["congestion"] = "reno";
    if (!trial.server.socket.empty()) trial.server.socket["congestion"] = "reno";
  };
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "the server's congestion is reno where joust asked for cubic"))
      << found.detail;
  EXPECT_TRUE(has(found.detail, "the client's congestion is reno where joust asked for cubic"))
      << found.detail;
  scenario.cases.front().socket.congestion = "";  // the machine's own, whatever it is
  EXPECT_EQ(check(10).verdict, Verdict::pass);
}

TEST_F(Checks, AKnobThatWasNotHonouredIsAFallback) {
  scenario.contestants[1].server.knobs["trigger"] = "level";
  plant("epoll", [](Trial& trial) { trial.server.knobs["trigger"] = "edge"; });
  check(10);
  EXPECT_FALSE(entry(judged, "epoll").ranked);
}

TEST_F(Checks, OtherThreadsThanAskedForAreTold) {
  plant("epoll", [](Trial& trial) { trial.server.threads = 2; });
  EXPECT_EQ(check(10).verdict, Verdict::warn);
}

TEST_F(Checks, AnExternalServerCannotBeReadBack) {
  scenario.contestants[1] = {
      .name = "other", .server = {}, .command = "x {port}", .client = {.engine = "epoll"}};
  const CheckResult found = check(10);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "other: options, sockets and build of an external server are not read back"))
      << found.detail;
  EXPECT_TRUE(entry(judged, "other").ranked);
}

// 11

TEST_F(Checks, ASlowClockIsTold) {
  RaceResult result = race();
  result.environment.items[1].value = "hpet";
  EXPECT_EQ(check(11, std::move(result)).verdict, Verdict::warn);
}

TEST_F(Checks, SoftirqsThatAreCountedApartAreTold) {
  RaceResult result = race();
  result.environment.items.push_back({"softirq_time", kSoftirqApart, false});
  const CheckResult found = check(11, std::move(result));
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "in no CPU time of a message")) << found.detail;
}

TEST_F(Checks, ALoopbackRaceSaysSo) {
  EXPECT_TRUE(has(check(11).detail, "no network was measured"));
}

HostOfRace host_of_race(const std::string& name, const std::string& kernel) {
  return {.name = name,
          .boot_id = name,
          .side = name == "a" ? "server" : "load",
          .address = "10.0.0.1",
          .network = {.name = "eth0", .driver = "veth", .mtu_bytes = 1500, .offloads = {"gro"}},
          .environment = {{{"kernel", kernel, true}}}};
}

TEST_F(Checks, ARaceOverHostsDescribesItsNetwork) {
  RaceResult result = race();
  result.hosts = {host_of_race("a", "6.1"), host_of_race("b", "6.1")};
  result.hosts[1].round_trip_s = 50e-6;
  const CheckResult found = check(11, std::move(result));
  EXPECT_EQ(found.verdict, Verdict::pass) << found.detail;
  EXPECT_FALSE(has(found.detail, "no network was measured")) << found.detail;
  EXPECT_TRUE(has(found.detail, "b: eth0 (veth), MTU 1500, gro, round trip 50")) << found.detail;
}

TEST_F(Checks, HostsThatDifferAreTold) {
  RaceResult result = race();
  result.hosts = {host_of_race("a", "6.1"), host_of_race("b", "6.2")};
  const CheckResult found = check(11, std::move(result));
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "different kernels: a has 6.1, b has 6.2")) << found.detail;
}

TEST_F(Checks, HostsOfOneKernelAreNoMachines) {
  RaceResult result = race();
  result.hosts = {host_of_race("a", "6.1"), host_of_race("b", "6.1")};
  result.hosts[1].boot_id = "a";
  const CheckResult found = check(11, std::move(result));
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "b shares its kernel")) << found.detail;
}

TEST_F(Checks, AMissingFingerprintIsTold) {
  RaceResult result = race();
  result.environment.items.clear();
  EXPECT_EQ(check(11, std::move(result)).verdict, Verdict::warn);
}

}  // namespace
}  // namespace joust::race
