// SPDX-License-Identifier: MIT
//
// A race over hosts: the sides run in other processes, which are reached by messages alone.
#include "race/hosts/hosts_runner.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/fd.hpp"
#include "race/fake_catalogue.hpp"
#include "race/hosts/agent.hpp"
#include "race/hosts/meeting.hpp"
#include "race/hosts/remote_sides.hpp"
#include "race/hosts/side_json.hpp"
#include "race/run/race.hpp"
#include "race/trial/transfer_trial.hpp"

namespace joust::race {
namespace {

using nlohmann::json;

// Messages are lines of JSON on a socket.
class Line {
 public:
  explicit Line(Fd socket) : socket_(std::move(socket)) {}

  bool send(const json& message) const {
    const std::string text = message.dump() + '\n';
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }

  // Returns nothing at the end of the stream, or if no message has come within `patience`.
  std::optional<json> receive(Duration patience) {
    const Time deadline = Clock::now() + patience;
    std::size_t end = 0;
    while ((end = came_.find('\n')) == std::string::npos) {
      pollfd event{socket_.get(), POLLIN, 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (::poll(&event, 1, static_cast<int>(std::clamp<long long>(left, 0, 1'000'000))) <= 0)
        return std::nullopt;
      std::array<char, 4096> buffer{};
      const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) return std::nullopt;
      came_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    json message = json::parse(came_.substr(0, end));
    came_.erase(0, end + 1);
    return message;
  }

 private:
  Fd socket_;
  std::string came_{};
};

// A process that serves sides, as another host would.
class OtherHost : public HostLink {
 public:
  explicit OtherHost(std::string name) : name_(std::move(name)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    line_.emplace(Fd(ends[0]));
    agent_ = ::fork();
    if (agent_ == 0) {
      line_.reset();
      serve(Line(Fd(ends[1])));
    }
    ::close(ends[1]);
  }
  ~OtherHost() override {
    line_.reset();
    if (agent_ > 0) ::waitpid(agent_, nullptr, 0);
  }

  void kill() {
    ::kill(agent_, SIGKILL);
    ::waitpid(std::exchange(agent_, -1), nullptr, 0);
  }

  const std::string& name() const override { return name_; }
  std::expected<json, std::string> call(const json& request, Duration patience) override {
    if (auto sent = post(request); !sent) return std::unexpected(sent.error());
    return await(patience);
  }
  std::expected<void, std::string> post(const json& request) override {
    if (!line_->send(request)) return std::unexpected("the link has ended");
    return {};
  }
  std::expected<json, std::string> await(Duration patience) override {
    if (auto reply = line_->receive(patience)) return *reply;
    return std::unexpected("no reply came");
  }

 private:
  // Ends with the link. The agent is no part of the test: it must not run its end.
  [[noreturn]] static void serve(Line line) {
    {
      const Stop stop;
      SideAgent agent(stop);
      auto handlers = agent.handlers();
      handlers["clock"] = [](const json&) {
        return json{{"now_ns", Clock::now().time_since_epoch().count()}};
      };
      while (const auto request = line.receive(std::chrono::minutes(5))) {
        json reply;
        try {
          reply = handlers.at(request->at("do"))(*request);
        } catch (const std::exception& error) {
          reply = {{"failed", error.what()}};
        }
        if (!line.send(reply)) break;
      }
    }
    ::_exit(0);
  }

  const std::string name_;
  std::optional<Line> line_{};
  pid_t agent_ = -1;
};

class RaceOverHosts : public testing::Test {
 protected:
  RaceOverHosts() {
    Case& one = scenario.cases.front();
    one.protocol = "turns";
    one.load.connections = 5;
    one.load.duration = std::chrono::milliseconds(50);
    one.load.warmup = std::chrono::milliseconds(5);
  }

  HostsRunner runner() {
    return {{.scenario = scenario,
             .cpus = {.server = "any", .client = "any"},
             .stop = stop,
             .program = JOUST_PYTHON,
             .first_words = {"python3", std::string(JOUST_SOURCE_DIR) + "/tests/race/fake_child.py"}},
            {.server = {.link = &a, .address = "127.0.0.1"}, .loads = {{.link = &b}, {.link = &c}}}};
  }

  Scenario scenario = fake_scenario({"threads", "epoll"}, 2);
  Stop stop;
  OtherHost a{"a"}, b{"b"}, c{"c"};
  RaceObserver observer;
};

TEST_F(RaceOverHosts, HasTheResultsOfAllHosts) {
  Plan plan = make_plan(scenario, fake_catalogue(), 1);
  plan.counts_calls = false;
  HostsRunner over_hosts = runner();
  const RaceResult result = run_race(scenario, std::move(plan), over_hosts, observer, stop);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.rounds, 2U);
  for (const Entry& entry : result.cases.front().entries)
    for (const Trial& trial : entry.trials) {
      ASSERT_TRUE(trial.measured()) << entry.contestant.name << ": " << trial.failure;
      EXPECT_EQ(trial.load->connections.ok, 5U) << "two of one host, and three of the other";
      EXPECT_EQ(trial.load->messages.verified, 20U) << "ten of each document";
      EXPECT_EQ(trial.load->latency_ns.count(), 20U) << "histograms are added";
      ASSERT_FALSE(trial.turns.empty());
      EXPECT_EQ(trial.turns.front().verified, 20U) << "ten of each host";
      EXPECT_EQ(trial.server.engine, entry.in_process ? "" : entry.contestant.server.engine);
      EXPECT_EQ(trial.server.usage.has_value(), !entry.in_process);
      ASSERT_TRUE(trial.machine);
      EXPECT_GT(trial.machine->total_s(), 0);
    }
}

TEST_F(RaceOverHosts, ATrialWithAWindowOfItsOwnIsOneTurn) {
  HostsRunner over_hosts = runner();
  Entry entry{.contestant = scenario.contestants.front()};
  const Trial trial = over_hosts.run({.load_case = scenario.cases.front(), .entry = entry});
  ASSERT_TRUE(trial.measured()) << trial.failure;
  EXPECT_EQ(trial.turns.size(), 1U);
  EXPECT_GT(*trial.throughput_per_s(), 0);
}

TEST_F(RaceOverHosts, AHostThatIsLostRefusesTheRoundsByName) {
  c.kill();
  HostsRunner over_hosts = runner();
  const RaceResult result =
      run_race(scenario, make_plan(scenario, fake_catalogue(), 1), over_hosts, observer, stop);
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.lost_hosts.size(), kMostLostRounds + 1);
  for (const std::string& why : result.lost_hosts) EXPECT_TRUE(why.starts_with("host c: ")) << why;
  for (const Entry& entry : result.cases.front().entries) {
    EXPECT_GE(entry.trials.size(), kMostLostRounds + 1);
    for (const Trial& trial : entry.trials) EXPECT_FALSE(trial.counted);
  }
}

// A host that begins a turn and works while others do not.
TEST(BeginOfATurn, ThatIsMissedTwiceIsAFailureOfTheHost) {
  struct Late : HostLink {
    explicit Late(std::string host, Duration lateness) : host_name(std::move(host)), late(lateness) {}
    const std::string& name() const override { return host_name; }
    std::expected<json, std::string> call(const json& request, Duration) override {
      (void)post(request);
      return await({});
    }
    std::expected<void, std::string> post(const json& request) override {
      if (request.contains("at_ns")) turn.began_ns = request["at_ns"].get<std::int64_t>() + late.count();
      return {};
    }
    std::expected<json, std::string> await(Duration) override { return reply_of(Step<LoadTurn>(turn)); }
    const std::string host_name;
    const Duration late;
    LoadTurn turn{.window_s = 1, .verified = 1};
  };
  Late x("x", std::chrono::milliseconds(3)), y("y", std::chrono::milliseconds(60));
  TrialLink to_x(x), to_y(y);
  Begins of_x, of_y;
  RemoteLoads loads({{.link = &to_x, .begins = &of_x}, {.link = &to_y, .begins = &of_y}}, 1, {});
  const TurnSize size{.time = std::chrono::milliseconds(20)};
  const auto once = loads.take_turn(size, true);
  ASSERT_TRUE(once);
  EXPECT_EQ(once->window_s, 0) << "it has no throughput";
  const auto turn = loads.take_turn(size, true);
  ASSERT_FALSE(turn);
  EXPECT_TRUE(turn.error().what.starts_with("host y: it began two turns in succession 60"));
  EXPECT_TRUE(turn.error().of_host);
  EXPECT_EQ(of_x.late, 2U);
  EXPECT_EQ(of_y.latest, std::chrono::milliseconds(60));
  EXPECT_TRUE(loads.take_turn({.time = std::chrono::seconds(10)}, true)) << "1 % of it";
}

// A link whose other end never answers.
class Silent : public HostLink {
 public:
  const std::string& name() const override { return name_; }
  std::expected<json, std::string> call(const json&, Duration) override {
    ++calls;
    return std::unexpected("no reply came");
  }
  std::expected<void, std::string> post(const json&) override { return {}; }
  std::expected<json, std::string> await(Duration) override { return call({}, {}); }

  int calls = 0;

 private:
  const std::string name_ = "silent";
};

TEST_F(RaceOverHosts, AHostThatHangsIsWaitedForOnceInATrial) {
  Silent silent;
  HostsRunner over_hosts({.scenario = scenario, .cpus = {.server = "any", .client = "any"}, .stop = stop},
                         {.server = {.link = &silent, .address = "127.0.0.1"}, .loads = {{.link = &b}}});
  Entry entry{.contestant = scenario.contestants.front()};
  const Trial trial = over_hosts.run({.load_case = scenario.cases.front(), .entry = entry});
  EXPECT_EQ(trial.failure, "host silent: no reply came");
  EXPECT_EQ(silent.calls, 1) << "neither for its end";
}

TEST_F(RaceOverHosts, AServerThatFailsIsNamedWithItsHost) {
  scenario = fake_scenario({"dies-at-start"}, 2);
  HostsRunner over_hosts = runner();
  Entry entry{.contestant = scenario.contestants.front()};
  const Trial trial = over_hosts.run({.load_case = scenario.cases.front(), .entry = entry});
  EXPECT_EQ(trial.failure, "the server ended before it could listen: exit code 1 (on host a)");
  EXPECT_EQ(trial.last_words, (std::vector<std::string>{"first words", "last words"}));
}

// Commands with files: a server of HTTP that gives them, or a server that takes the last one.
class TransferOverHosts : public RaceOverHosts {
 protected:
  void SetUp() override {
    if (const std::string reason = no_room_for({.count = 1, .bytes = 300'000}, 0); !reason.empty())
      GTEST_SKIP() << reason;
    scenario.cases.front().files = FilePlan{.count = 1, .bytes = 100'000};
  }

  Trial run(const std::string& server, const std::string& transfer) {
    HostsRunner over_hosts({.scenario = scenario, .cpus = {.server = "any", .client = "any"}, .stop = stop},
                           {.server = {.link = &a, .address = "127.0.0.1"}, .loads = {{.link = &b}}});
    Entry entry;
    entry.contestant.command = server;
    entry.contestant.transfer = transfer;
    return over_hosts.run({.load_case = scenario.cases.front(), .entry = entry});
  }

  const std::string python = JOUST_PYTHON;
  const std::string gives = "exec " + python + " -m http.server --bind {address} -d {from} {port}";
  const std::string gets = "exec " + python +
                           " -c 'import urllib.request as http; "
                           "http.urlretrieve(\"http://{address}:{port}/{last}\", \"{into}/{last}\")'";
  // The first connection only looks whether it listens. The bytes are in the file before the sender's ends.
  const std::string takes = "exec " + python +
                            " -c 'import socket; s = socket.create_server((\"{address}\", {port}))\n"
                            "while True:\n"
                            " c = s.accept()[0]; data = c.makefile(\"rb\").read()\n"
                            " open(\"{into}/{last}\", \"ab\").write(data); c.close()'";
  const std::string sends = "exec " + python +
                            " -c 'import socket; s = socket.create_connection((\"{address}\", {port})); "
                            "s.sendall(open(\"{from}/{last}\", \"rb\").read()); s.shutdown(1); s.recv(1)'";
};

TEST_F(TransferOverHosts, IsTimedAndComparedWhereTheFilesArrive) {
  for (const auto& [server, command] : {std::pair{gives, gets}, std::pair{takes, sends}}) {
    const Trial trial = run(server, command);
    ASSERT_TRUE(trial.measured()) << trial.failure
                                  << (trial.load && !trial.load->messages_of_errors.empty()
                                          ? trial.load->messages_of_errors.front()
                                          : "");
    EXPECT_EQ(trial.load->messages.verified, 1U);
    EXPECT_NEAR(*trial.mb_per_s(), 0.1 / trial.load->duration_s, 1e-6);
    EXPECT_GT(trial.load->cpu.user_s + trial.load->cpu.system_s, 0);
    ASSERT_TRUE(trial.server.usage);
    EXPECT_FALSE(trial.serverless);
  }
}

TEST_F(TransferOverHosts, ThatFailsSaysWhere) {
  const Trial nothing = run(gives, "true {into}");
  ASSERT_TRUE(nothing.load) << nothing.failure;
  EXPECT_EQ(nothing.load->messages_of_errors, std::vector<std::string>{"0 of 1 file arrived"});
  EXPECT_FALSE(nothing.measured());
  EXPECT_EQ(run(gives, "echo no way >&2; exit 3").failure, "the transfer failed: exit code 3 (on host b)");
  EXPECT_TRUE(run("exit 4", gets).failure.contains("exit code 4 (on host a)"));
  EXPECT_TRUE(
      run(gives, "rm {from}/{last}").failure.contains("has taken 00000 out of its folder (on host b)"));
  EXPECT_TRUE(run(gives, gets).measured()) << "the files are there again";
}

TEST_F(RaceOverHosts, HostsMeetAndAreDescribed) {
  auto meeting = meet(a, {&b, &c}, {.fabric = "127.0.0.0/8"});
  ASSERT_TRUE(meeting) << meeting.error();
  ASSERT_EQ(meeting->facts.size(), 3U);
  EXPECT_EQ(meeting->facts[0].side, "server");
  EXPECT_EQ(meeting->facts[2].name, "c");
  EXPECT_EQ(meeting->facts[1].address, "127.0.0.1");
  EXPECT_TRUE(meeting->facts[1].round_trip_s);
  EXPECT_EQ(meeting->hosts.server.address, "127.0.0.1");
  const CpuPlan plan = place_sides(*meeting, scenario, fake_catalogue());
  EXPECT_FALSE(plan.apart) << "they have one kernel";
  EXPECT_EQ(plan.client, meeting->hosts.loads[1].cpus);
  const auto nowhere = meet(a, {&b}, {.fabric = "240.0.0.0/30"});
  ASSERT_FALSE(nowhere);
  EXPECT_TRUE(nowhere.error().starts_with("host a: this host has no address in '240.0.0.0/30'"))
      << nowhere.error();
}

TEST(Restrictions, LeaveOutWhatOtherHostsCannotReach) {
  Catalogue catalogue = fake_catalogue();
  Engine harmful = fake_engine("threads");
  harmful.not_public = "peers could do harm";
  catalogue.engines[1] = {.engine = &harmful};
  restrict_to_hosts(catalogue);
  Scenario scenario = fake_scenario({"threads", "epoll", "io-uring"});
  scenario.cases.front().protocol = "turns";
  scenario.contestants.back().server.transport = "unix";
  const Plan plan = make_plan(scenario, catalogue, 1);
  const std::vector<Entry>& entries = plan.cases.front().entries;
  EXPECT_TRUE(entries[0].unavailable.contains("its own machine only: peers could do harm"))
      << entries[0].unavailable;
  EXPECT_EQ(entries[1].unavailable, "");
  EXPECT_TRUE(entries[2].unavailable.contains("unix socket")) << entries[2].unavailable;
  EXPECT_EQ(plan.cases.front().reference, "epoll");
  EXPECT_EQ(why_not_over_hosts(scenario, 2, false), "");
  scenario.cases.front().load.connections = 1;
  EXPECT_EQ(why_not_over_hosts(scenario, 2, false),
            "main: 1 connection for 2 hosts that load: each needs one");
}

TEST(Restrictions, LeaveOutCommandsOfOneHost) {
  Catalogue catalogue = fake_catalogue();
  restrict_to_hosts(catalogue);
  EXPECT_TRUE(catalogue.no_transfer("", "cp {from}/* {into}").contains("it has no server"));
  EXPECT_TRUE(
      catalogue.no_transfer("serve {port}", "send {from} && sync {into}").contains("{from} and {into}"));
  EXPECT_TRUE(catalogue.no_transfer("serve {port}", "send {from} 127.0.0.1:{port}").contains("{address}"));
  EXPECT_EQ(catalogue.no_transfer("serve {port}", "send {from} {address}:{port}"), "");
  Scenario scenario = fake_scenario({"threads"});
  scenario.cases.front().files = FilePlan{.count = 1, .bytes = 1};
  EXPECT_EQ(why_not_over_hosts(scenario, 1, false), "");
  EXPECT_EQ(why_not_over_hosts(scenario, 2, false),
            "main: a command that moves files runs on one host, and 2 would load");
}

TEST(ShareOfALoad, IsConnectionsOfOwnNumbersAndTheirRate) {
  LoadPlan load{.connections = 5, .rate_per_s = 1000};
  const LoadPlan first = share_of(load, 0, 2), second = share_of(load, 1, 2);
  EXPECT_EQ(first.connections, 2U);
  EXPECT_EQ(second.connections, 3U);
  EXPECT_EQ(second.first_connection, 2U);
  EXPECT_EQ(second.all_connections, 5U);
  EXPECT_DOUBLE_EQ(first.rate_per_s + second.rate_per_s, 1000);
  EXPECT_EQ(share_of(load, 0, 1).all_connections, 0U) << "there are no others";
}

TEST(TurnOfSeveralHosts, HasTheSumOfTheirRates) {
  const LoadTurn turn = together({{.window_s = 1, .turn_s = 1.1, .verified = 100, .messages = 110},
                                  {.window_s = 0.5, .turn_s = 1, .verified = 100, .messages = 100}});
  EXPECT_EQ(turn.verified, 200U);
  EXPECT_EQ(turn.messages, 210U);
  EXPECT_DOUBLE_EQ(turn.turn_s, 1.1);
  EXPECT_DOUBLE_EQ(static_cast<double>(turn.verified) / turn.window_s, 300);
}

}  // namespace
}  // namespace joust::race
