// SPDX-License-Identifier: MIT
//
// Both sides of resp, joined in memory under virtual time; and servers that lie.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>

#include "protocols/load_fixture.hpp"
#include "protocols/resp/protocol.hpp"
#include "protocols/resp/server.hpp"
#include "session/framing.hpp"
#include "session/handler_session.hpp"

namespace joust::resp {
namespace {

Protocol protocol() {
  return test::protocol_called("resp");
}

Parameters parameters(Role side, Settings options) {
  if (side == Role::dial) options.emplace("key-maximum", "20");
  return test::parameters_of(protocol(), side, options);
}

// A server whose values go through `lie`, by the number of the GET.
std::unique_ptr<Service> server_that(
    std::function<std::string(int get, std::vector<std::string> values)> lie) {
  struct Kept {
    std::map<std::string, std::vector<std::string>, std::less<>>
        values;  // of each key, the last one at the end
    int gets = 0;
  };
  class Lies : public Handler {
   public:
    explicit Lies(decltype(lie) how) : lie_(std::move(how)) {}
    bool on_message(Bytes message, Writer& replies) override {
      const auto command = Command::read(message);
      const auto words = command->arguments();
      if (command->is("SET")) {
        kept_.values[std::string(words[0])].emplace_back(words[1]);
        replies.send("+OK\r\n");
      } else {
        replies.send(lie_(kept_.gets++, kept_.values[std::string(words[0])]));
      }
      return true;
    }

   private:
    decltype(lie) lie_;
    Kept kept_;
  };
  return std::make_unique<HandlerService>(
      Own{[] { return std::make_unique<FoundCutter>(resp_finder(), kLargestMessage); }},
      [lie] { return std::make_unique<Lies>(lie); });
}

std::string bulk(const std::string& value) {
  return fmt::format("${}\r\n{}\r\n", value.size(), value);
}

class RespLoad : public test::JoinedLoad {
 protected:
  RespLoad() : JoinedLoad("resp") {}

  void load(const LoadPlan& plan, const Settings& options, Service& server, Pair::Cut cut = Pair::whole) {
    JoinedLoad::load(plan, parameters(Role::dial, options), server, std::move(cut));
  }
  std::string complaint_about(std::function<std::string(int, std::vector<std::string>)> lie) {
    const auto server = server_that(std::move(lie));
    load({.messages = 200}, {{"ratio", "1:1"}, {"key-maximum", "2"}}, *server);
    return complaint();
  }
};

TEST_F(RespLoad, IsAnsweredByItsOwnServerHoweverTheStreamIsCut) {
  const Settings kinds[] = {
      {{"ratio", "1:1"}},
      {{"ratio", "1:0"}},
      {{"ratio", "0:1"}, {"fill", "no"}},
      {{"ratio", "1:3"}, {"fill", "no"}},
      {{"key-pattern", "zipf"}, {"key-zipf-exp", "0.8"}, {"ratio", "1:1"}},
      {{"key-pattern", "sequential"}, {"ratio", "1:1"}},
      {{"data-size-range", "16-300"}, {"ratio", "1:1"}, {"key-prefix", "a prefix\r\n:"}},
  };
  for (const Settings& options : kinds)
    for (const Pair::Cut& cut : {Pair::Cut(Pair::whole), Pair::Cut(Pair::single)}) {
      const auto server = make_server(parameters(Role::serve, {}));
      load({.messages = 100, .depth = 5}, options, *server, cut);
      EXPECT_EQ(verified(), 100U) << complaint();
    }
}

TEST_F(RespLoad, TakesTheValuesOfAnEarlierLoadWhereItHasWrittenNone) {
  const auto server = make_server(parameters(Role::serve, {}));
  for (const char* const fill : {"yes", "no", "no"}) {
    load({.messages = 100}, {{"fill", fill}, {"ratio", "1:1"}}, *server);
    EXPECT_EQ(verified(), 100U) << complaint();
  }
}

TEST_F(RespLoad, FindsEachKindOfWrongValue) {
  const auto last = [](const std::vector<std::string>& values) { return values.back(); };
  EXPECT_EQ(complaint_about([&](int, auto values) { return bulk(last(values)); }), "");
  EXPECT_TRUE(complaint_about([](int, auto values) {
                return bulk(values.front());
              }).contains("has the value of write 1, but write 2 came before the request"))
      << "a write is lost: " << complaint();
  EXPECT_TRUE(complaint_about([](int, auto) { return "$-1\r\n"; }).contains("no value for it"));
  EXPECT_TRUE(complaint_about([](int, auto) { return "_\r\n"; }).contains("no value for it"));
  EXPECT_TRUE(complaint_about([&](int, auto values) {
                std::string value = last(values);
                value.back() ^= 1;
                return bulk(value);
              }).contains("has a value of 32 bytes that was never written to it"));
  EXPECT_TRUE(
      complaint_about([&](int, auto values) { return bulk(last(values) + "x"); }).contains("never written"));
  EXPECT_TRUE(complaint_about([&](int, auto values) {
                std::string value = last(values);
                value[3] = 1;  // a write that is still to come
                return bulk(value);
              }).contains("never written"));
  EXPECT_TRUE(complaint_about([&](int, auto values) {
                std::string value = last(values);
                value[11] ^= 1;  // of the other key
                return bulk(value);
              }).contains("never written"));
  EXPECT_TRUE(complaint_about([](int, auto) {
                return "-ERR out of order\r\n";
              }).contains("by the error 'ERR out of order"));
  EXPECT_TRUE(complaint_about([](int, auto) { return "+OK\r\n"; }).contains("answers GET key:0"));
  EXPECT_TRUE(complaint_about([](int, auto) { return ":1\r\n"; }).contains("answers GET"));
  EXPECT_TRUE(complaint_about([](int, auto) { return "?\r\n"; }).contains("no known type"));
}

TEST_F(RespLoad, NamesAnotherWriterAndWhatAServerWants) {
  EXPECT_TRUE(complaint_about([](int, auto values) {
                std::string value = values.back();
                value[12] ^= 1;  // the mark of another load
                return bulk(value);
              }).contains("does another load or program write the same keys? --key-prefix"))
      << complaint();
  EXPECT_TRUE(complaint_about([](int, auto) {
                return "-NOAUTH Authentication required.\r\n";
              }).contains("sends no password"))
      << complaint();
}

TEST_F(RespLoad, FillsStepByStep) {
  Parameters large = parameters(Role::dial, {});
  large.payload = 64 << 10;
  std::size_t bytes = 0;
  {
    LoadRun run(LoadPlan{.messages = 10});
    const auto client = make_client(large, run);
    const auto session = client->open({});
    session->on_open(Pair::kBegin);
    for (Segment shown; session->output({&shown, 1}) > 0;) {
      bytes += shown.size();
      session->consumed(shown.size());
      session->released(shown.size());
    }
  }
  EXPECT_GE(bytes, large.payload);
  EXPECT_LE(bytes, 5 * large.payload) << "of 20 keys";
  const auto server = make_server(parameters(Role::serve, {}));
  JoinedLoad::load({.messages = 10}, large, *server);
  EXPECT_EQ(verified(), 10U) << complaint();
}

TEST_F(RespLoad, FindsAWriteThatIsLostOnlyNowAndThen) {
  EXPECT_NE(complaint_about([](int get, auto values) {
              return bulk(get > 50 && values.size() > 1 ? values[values.size() - 2] : values.back());
            }),
            "");
}

// The writes of one connection are read by others, whose requests were made after they were confirmed.
TEST_F(RespLoad, ComparesTheValuesOfOtherConnections) {
  run_.emplace(LoadPlan{.connections = 2, .messages = 300});
  const auto client = make_client(
      parameters(Role::dial, {{"ratio", "1:1"}, {"key-maximum", "2"}, {"key-pattern", "uniform"}}), *run_);
  // Two servers that should be one: each connection has its own.
  const auto one = make_server(parameters(Role::serve, {})), other = make_server(parameters(Role::serve, {}));
  Pair first(client->open({}), one->open({})), second(client->open({}), other->open({}));
  for (int i = 0; i < 1000; ++i) {
    first.pass(std::chrono::milliseconds(1));
    second.pass(std::chrono::milliseconds(1));
  }
  EXPECT_LT(verified(), 600U);
  EXPECT_TRUE(complaint().contains("has been written, and the server has no value for it")) << complaint();
}

TEST_F(RespLoad, StopsAtAServerThatIsFull) {
  const auto server = make_server(parameters(Role::serve, {{"maxmemory", "1KiB"}}));
  load({.messages = 100}, {}, *server);
  EXPECT_EQ(verified(), 0U);
  EXPECT_EQ(run_->recorder().counts().sent, 0U) << "the load has not begun";
}

TEST_F(RespLoad, SendsTheSameRequestsToEveryServer) {
  std::vector<std::string> heard[2];
  for (auto& one : heard) {
    const auto server = server_that([&one](int, auto values) {
      one.push_back(values.back().substr(0, 12));
      return bulk(values.back());
    });
    load({.messages = 100}, {{"ratio", "1:1"}}, *server);
    EXPECT_EQ(verified(), 100U) << complaint();
  }
  EXPECT_EQ(heard[0], heard[1]);
  EXPECT_GT(heard[0].size(), 20U);
}

TEST_F(RespLoad, RefusesOptionsThatDoNotFit) {
  const auto objection = [](const Settings& options, std::uint64_t connections = 1) -> std::string {
    try {
      workload(parameters(Role::dial, options), connections);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(objection({}), "");
  for (const char* const ratio : {"", "1", "1:", ":1", "0:0", "a:1", "1:-1", "1:2:3", "2000000:1"})
    EXPECT_TRUE(objection({{"ratio", ratio}}).starts_with("--ratio: ")) << ratio;
  for (const char* const keys : {"0", "-1", "x", "10000001"})
    EXPECT_TRUE(objection({{"key-maximum", keys}}).starts_with("--key-maximum: ")) << keys;
  EXPECT_TRUE(objection({{"key-maximum", "9"}}, 10).contains("9 keys for 10 connections"));
  EXPECT_EQ(objection({{"key-maximum", "10"}}, 10), "");
  for (const char* const exponent : {"0", "-1", "5.1", "x", "", "nan", "1x"})
    EXPECT_TRUE(objection({{"key-zipf-exp", exponent}}).starts_with("--key-zipf-exp: ")) << exponent;
  for (const char* const range : {"16", "15-20", "20-16", "16-2MiB", "-", "a-b"})
    EXPECT_TRUE(objection({{"data-size-range", range}}).starts_with("--data-size-range: ")) << range;
  EXPECT_EQ(objection({{"data-size-range", "16-16"}}), "");
  Parameters large = parameters(Role::dial, {{"key-maximum", "auto"}});
  EXPECT_EQ(workload(large, 1).keys, 10'000U);
  EXPECT_EQ(workload(large, 20'000).keys, 20'000U);
  large.payload = 1 << 20;
  EXPECT_EQ(workload(large, 1).keys, 32U);
  EXPECT_TRUE(objection({{"key-maximum", "10M"}, {"data-size-range", "1KiB-2KiB"}}).contains("--fill no"));
  EXPECT_EQ(objection({{"key-maximum", "10M"}, {"data-size-range", "1KiB-2KiB"}, {"fill", "no"}}), "");
  EXPECT_THROW(most_memory(parameters(Role::serve, {{"maxmemory", "0"}})), std::invalid_argument);
}

class RespServer : public testing::Test {
 protected:
  std::string ask(std::string_view bytes) {
    session_->on_bytes(as_bytes(bytes), Pair::kBegin);
    std::string replies;
    for (;;) {
      Segment segment;
      if (session_->output({&segment, 1}) == 0) return replies;
      replies += as_text(segment.bytes);
      session_->consumed(segment.size());
      session_->released(segment.size());
    }
  }

  std::unique_ptr<Service> service_ = make_server(parameters(Role::serve, {{"maxmemory", "4KiB"}}));
  std::unique_ptr<Session> session_ = service_->open({});
};

TEST_F(RespServer, AnswersAsRedisDoes) {
  EXPECT_EQ(ask("*1\r\n$4\r\nPING\r\n"), "+PONG\r\n");
  EXPECT_EQ(ask("PING\r\nping hello\n"), "+PONG\r\n$5\r\nhello\r\n");
  EXPECT_EQ(ask("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"), "$-1\r\n");
  EXPECT_EQ(ask("*3\r\n$3\r\nSeT\r\n$1\r\nk\r\n$4\r\n\r\n\r\n\r\n"), "+OK\r\n");
  EXPECT_EQ(ask("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"), "$4\r\n\r\n\r\n\r\n");
  EXPECT_EQ(ask("SET n 5\r\nEXISTS n k x\r\nDBSIZE\r\n"), "+OK\r\n:2\r\n:2\r\n");
  EXPECT_EQ(ask("DEL n x\r\nGET n\r\n"), ":1\r\n$-1\r\n");
  EXPECT_EQ(ask("\r\n*0\r\nECHO x\r\n"), "$1\r\nx\r\n") << "empty messages have no reply";
  EXPECT_EQ(ask("FLUSHALL\r\nDBSIZE\r\n"), "+OK\r\n:0\r\n");
  EXPECT_EQ(ask("SELECT 0\r\nSELECT 1\r\n"), "+OK\r\n-ERR DB index is out of range\r\n");
  EXPECT_EQ(ask("CONFIG GET save\r\nCOMMAND DOCS\r\n"), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n*0\r\n");
  EXPECT_EQ(ask("NOSUCH\r\n"), "-ERR unknown command 'NOSUCH'\r\n");
  EXPECT_EQ(ask("GET\r\nSET a b NX\r\n"),
            "-ERR 'GET' takes 1 argument here\r\n-ERR 'SET' takes 2 arguments here\r\n");
  EXPECT_EQ(ask("DBSIZE x\r\nPING a b\r\n"),
            "-ERR 'DBSIZE' takes no arguments here\r\n-ERR 'PING' takes 0 to 1 arguments here\r\n");
  EXPECT_FALSE(session_->finished());
  EXPECT_EQ(ask("QUIT\r\n"), "+OK\r\n");
  EXPECT_TRUE(session_->finished());
  EXPECT_EQ(session_->complaint(), "") << "the client's wish is no failure";
}

TEST_F(RespServer, EndsAConnectionThatBreaksTheProtocol) {
  for (const std::string wrong : {"*2\r\n*1\r\n$1\r\na\r\n$1\r\nb\r\n", "*1\r\n:1\r\n", "*1\r\n$-1\r\n"}) {
    session_ = service_->open({});
    EXPECT_TRUE(ask(wrong).starts_with("-ERR Protocol error")) << wrong;
    EXPECT_TRUE(session_->finished());
    EXPECT_NE(session_->complaint(), "");
  }
  for (const std::string& wrong :
       {std::string("*x\r\n"), std::string("*1\r\n$2000000\r\n"), std::string(70'000, 'a') + "\n",
        std::string("*9999999999\r\n"), "*" + std::string(40, '1')}) {
    session_ = service_->open({});
    ask(wrong);
    EXPECT_TRUE(session_->finished()) << wrong.substr(0, 20);
    EXPECT_NE(session_->complaint(), "");
  }
}

TEST_F(RespServer, HasALimitForAllValuesTogether) {
  const std::string large(3000, 'v');
  EXPECT_EQ(ask("SET a " + large + "\r\n"), "+OK\r\n");
  EXPECT_EQ(ask("SET b " + large + "\r\n"), "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
  EXPECT_EQ(ask("GET a\r\n"), bulk(large)) << "what was there is still there";
  EXPECT_EQ(ask("SET a 1\r\n"), "+OK\r\n");
  EXPECT_EQ(ask("SET b " + large + "\r\n"), "+OK\r\n") << "the place of the value before is free";
  EXPECT_EQ(ask("FLUSHALL\r\n"), "+OK\r\n");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ask("SET a " + large + "\r\nDEL a\r\n"), "+OK\r\n:1\r\n");
}

TEST(RespStore, IsSharedByThreads) {
  Store store(1 << 20);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&store, thread] {
      for (int i = 0; i < 2000; ++i) {
        const std::string key = std::to_string(i % 50);
        EXPECT_TRUE(store.set(key, std::string(100, static_cast<char>('a' + thread))));
        store.get(key, [](std::string_view value) {
          EXPECT_EQ(value.size(), 100U);
          EXPECT_EQ(value.find_first_not_of(value[0]), value.npos) << "of one write";
        });
        if (i % 7 == 0) store.erase(key);
      }
    });
  threads.clear();
  EXPECT_LE(store.size(), 50U);
  store.clear();
  EXPECT_EQ(store.size(), 0U);
  EXPECT_TRUE(store.set("a", std::string((1 << 20) - 200, 'v'))) << "all of it is free again";
}

// Each rank as often as its probability says, within five standard deviations.
TEST(RespZipf, HasTheProbabilitiesOfItsName) {
  for (const double exponent : {0.2, 0.99, 1.0, 1.5, 5.0})
    for (const std::uint64_t ranks : {1, 2, 100, 10'000'000}) {
      constexpr int kDraws = 100'000;
      const Zipf zipf(ranks, exponent);
      std::map<std::uint64_t, int> counts;
      for (int i = 0; i < kDraws; ++i) ++counts[zipf.rank(static_cast<std::uint64_t>(i) << 20)];
      double sum = 0;
      for (std::uint64_t rank = ranks; rank > 0; --rank) sum += std::pow(rank, -exponent);
      EXPECT_GE(counts.begin()->first, 1U);
      EXPECT_LE(counts.rbegin()->first, ranks);
      for (std::uint64_t rank = 1; rank <= std::min<std::uint64_t>(ranks, 5); ++rank) {
        const double share = std::pow(rank, -exponent) / sum;
        EXPECT_NEAR(counts[rank], kDraws * share, 5 * std::sqrt(kDraws * share * (1 - share)) + 1e-6)
            << rank << " of " << ranks << ", exponent " << exponent;
      }
    }
}

}  // namespace
}  // namespace joust::resp
