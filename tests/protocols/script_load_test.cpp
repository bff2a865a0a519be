// SPDX-License-Identifier: MIT
//
// Both sides of script, joined in memory under virtual time; and what its options refuse.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>

#include "protocols/load_fixture.hpp"
#include "protocols/script/script.hpp"
#include "session/handler_session.hpp"

namespace joust::script {
namespace {

Protocol protocol() {
  return test::protocol_called("script");
}

Parameters parameters(Role side, const Settings& options) {
  return test::parameters_of(protocol(), side, options);
}

// A server that replies what it is told to each line.
std::unique_ptr<Service> server_that(std::function<std::string(std::string_view)> answer) {
  class Says : public Handler {
   public:
    explicit Says(std::function<std::string(std::string_view)> answer) : answer_(std::move(answer)) {}
    bool on_message(Bytes message, Writer& replies) override {
      replies.send(answer_(as_text(message)) + "\r\n");
      return true;
    }

   private:
    const std::function<std::string(std::string_view)> answer_;
  };
  return std::make_unique<HandlerService>(Own{parse_frame("line")->cutter},
                                          [answer] { return std::make_unique<Says>(answer); });
}

class ScriptLoad : public test::JoinedLoad {
 protected:
  ScriptLoad() : JoinedLoad("script") {}

  void load(const LoadPlan& plan, const Settings& options, Service& server, Pair::Cut cut = Pair::whole) {
    JoinedLoad::load(plan, parameters(Role::dial, options), server, std::move(cut));
  }
  // Both sides by the same options.
  void load_own(const LoadPlan& plan, const Settings& options, Pair::Cut cut = Pair::whole) {
    Settings serving = options;
    serving.erase("last");
    const auto server = make_server(parameters(Role::serve, serving));
    load(plan, options, *server, std::move(cut));
  }
};

TEST_F(ScriptLoad, IsAnsweredByItsOwnServerHoweverTheStreamIsCut) {
  const Settings kinds[] = {
      {{"send", "PING {message}\\r\\n"}, {"expect", "exact:PONG {1}\\r\\n"}},
      {{"send", "{rand:1..1000000}\\n"}, {"expect", "echo"}},
      {{"send", "PING {message}\\r\\n"}, {"expect", "PONG {1}"}},
      {{"send", "{size:u32}{bytes:0..300}"}, {"reply", "u32"}, {"expect", "echo"}},
      {{"send", "*2\\r\\n$4\\r\\nECHO\\r\\n${size}\\r\\n{begin}k{rand:1..999}{end}\\r\\n"},
       {"reply", "resp"},
       {"expect", "exact:${size}\\r\\n{begin}{1}{end}\\r\\n"}},
      {{"send", "a{message}\\r\\n\\r\\n"},
       {"reply", "until:\\r\\n\\r\\n"},
       {"expect", "contains:{1}"},
       {"answer", "got {1}\\r\\n\\r\\n"}},
  };
  for (const Settings& options : kinds)
    for (const Pair::Cut& cut : {Pair::Cut(Pair::whole), Pair::Cut(Pair::single)}) {
      const auto server = make_server(parameters(Role::serve, options));
      Settings loading = options;
      loading.erase("answer");
      load({.messages = 100, .depth = 3}, loading, *server, cut);
      EXPECT_EQ(verified(), 100U) << options.at("expect") << ": " << complaint();
    }
}

TEST_F(ScriptLoad, BeginsAndEndsWithTheWordsOfAConnection) {
  const Settings options{{"first", "AUTH secret\\r\\n"},
                         {"first-expect", "exact:+OK\\r\\n"},
                         {"send", "PING\\r\\n"},
                         {"expect", "exact:+PONG\\r\\n"},
                         {"last", "QUIT\\r\\n"}};
  load_own({.messages = 10}, options);
  EXPECT_EQ(verified(), 10U) << complaint();
  std::vector<std::string> heard;
  const auto server = server_that([&heard](std::string_view line) {
    heard.emplace_back(line);
    return line.starts_with("AUTH") ? "+OK" : "+PONG";
  });
  load({.messages = 2}, options, *server);
  EXPECT_EQ(heard, (std::vector<std::string>{"AUTH secret\r\n", "PING\r\n", "PING\r\n", "QUIT\r\n"}));
  const auto strict = server_that([](std::string_view) { return "-ERR"; });
  load({.messages = 2}, options, *strict);
  EXPECT_EQ(verified(), 0U);
}

TEST_F(ScriptLoad, SaysWhyAReplyIsWrong) {
  const auto complaint_about = [this](const std::string& expect, const std::string& reply) {
    const auto server = server_that([reply](std::string_view) { return reply; });
    load({.messages = 2}, {{"send", "GET {message}\\r\\n"}, {"expect", expect}}, *server);
    return verified() == 2 ? "right" : complaint();
  };
  EXPECT_TRUE(complaint_about("exact:x{1}\\r\\n", "y")
                  .contains("the reply to 'GET 0\\x0d\\x0a' is wrong; a right one is 'x0\\x0d\\x0a'"))
      << complaint();
  EXPECT_TRUE(complaint_about("prefix:+", "-ERR").contains("a right one begins with '+'"));
  EXPECT_TRUE(complaint_about("length:4", "abc").contains("has 4 bytes"));
  EXPECT_EQ(complaint_about("length:5", "abc"), "right");
  EXPECT_EQ(complaint_about("prefix:+", "+OK"), "right");
  EXPECT_EQ(complaint_about("+OK", "+OK"), "right") << "the end of the line is left out";
  EXPECT_EQ(complaint_about("+OK\\r\\n", "+OK"), "right");
  EXPECT_TRUE(complaint_about("+OK", "+OKAY").contains("a right one is '+OK'"));
  EXPECT_EQ(complaint_about("none", "anything"), "right");
  EXPECT_TRUE(complaint_about("echo", "GET 1").contains("is its request"));
}

TEST_F(ScriptLoad, ChecksByExpressions) {
  const auto compiled = compile_expression("^a+$");
  if (!compiled) GTEST_SKIP() << compiled.error();
  const auto server = server_that([](std::string_view) { return "id=42;"; });
  load({.messages = 3}, {{"send", "x\\r\\n"}, {"expect", "match:id=\\d+;"}}, *server);
  EXPECT_EQ(verified(), 3U) << complaint();
  load({.messages = 3}, {{"send", "x\\r\\n"}, {"expect", "match:^id=\\D+;"}}, *server);
  EXPECT_EQ(verified(), 0U);
  std::vector<std::string> heard;
  const auto token = server_that([&heard](std::string_view line) {
    heard.emplace_back(line);
    return fmt::format("token={};", heard.size());
  });
  load({.messages = 3},
       {{"first", "hello\\r\\n"},
        {"first-expect", "prefix:token"},
        {"send", "{reply:/token=(\\d+)/}\\r\\n"},
        {"expect", "prefix:token"}},
       *token);
  EXPECT_EQ(heard, (std::vector<std::string>{"hello\r\n", "1\r\n", "2\r\n", "3\r\n"}));
  EXPECT_FALSE(compile_expression("(((")) << "wrong expressions are refused";
}

TEST_F(ScriptLoad, PutsMessagesTogetherByWeight) {
  std::map<std::string, int> heard;
  const auto server = server_that([&heard](std::string_view line) {
    ++heard[std::string(line.substr(0, 3))];
    return "+OK";
  });
  const Settings options{{"script", R"(
expect = "prefix:+"
[[send]]
text = "GET x\r\n"
weight = 9
[[send]]
text = 'SET x {bytes:3}\r\n'
)"}};
  load({.messages = 2000, .depth = 16}, options, *server);
  EXPECT_EQ(verified(), 2000U) << complaint();
  EXPECT_NEAR(heard["SET"], 200, 70);  // five standard deviations
  EXPECT_EQ(heard["GET"] + heard["SET"], 2000);
}

TEST_F(ScriptLoad, TakesAllOfAConnectionThatEnds) {
  run_.emplace(LoadPlan{.messages = 1});
  const auto client = make_client(
      parameters(Role::dial, {{"send", "GET /\\r\\n"}, {"reply", "close"}, {"expect", "exact:hello"}}),
      *run_);
  const auto session = client->open({});
  session->on_open(Pair::kBegin);
  session->on_bytes(as_bytes("hel"), Pair::kBegin);
  session->on_bytes(as_bytes("lo"), Pair::kBegin);
  session->on_peer_finished(Pair::kBegin);
  EXPECT_EQ(verified(), 1U) << complaint();
  EXPECT_TRUE(session->finished());
}

// The messages of a channel go on where those of its earlier connections have ended.
TEST_F(ScriptLoad, NumbersGoOnOnTheNextConnection) {
  run_.emplace(LoadPlan{.messages = 3});
  const auto client = make_client(
      parameters(Role::dial, {{"send", "{message} {counter}\\n"}, {"reply", "close"}, {"expect", "ok"}}),
      *run_);
  for (const char* sent : {"0 0\n", "1 1\n", "2 2\n"}) {
    const auto session = client->open({});
    session->on_open(Pair::kBegin);
    std::array<Segment, 4> segments;
    ASSERT_EQ(session->output(segments), 1U);
    EXPECT_EQ(as_text(segments[0].bytes), sent);
    session->on_bytes(as_bytes("ok\n"), Pair::kBegin);
    session->on_peer_finished(Pair::kBegin);
    (void)client->redial(Pair::kBegin);
  }
  EXPECT_EQ(verified(), 3U) << complaint();
}

// Replies over datagrams come in any order: each has the number of its request.
TEST(ScriptReplyId, IsThatOfTheNewestRequestWithItsNumber) {
  const ReplyId id{.form = {.width = 2}, .offset = 1};
  const auto number = [&id](std::string_view reply, std::uint64_t written) {
    return id.number_in(as_bytes(reply), written).value_or(UINT64_MAX);
  };
  EXPECT_EQ(number(std::string_view("x\x00\x05", 3), 10), 5U);
  EXPECT_EQ(number(std::string_view("x\x00\x05", 3), 65536 + 6), 65536U + 5);
  EXPECT_EQ(number(std::string_view("x\xff\xff", 3), 65536 + 6), 65535U);
  EXPECT_EQ(number(std::string_view("x\x00\x0b", 3), 10), UINT64_MAX) << "there is no such request yet";
  EXPECT_EQ(number("x", 10), UINT64_MAX);
}

std::string refusal(const Settings& options, Role side = Role::dial, const LoadPlan& plan = {}) {
  try {
    const auto script = script_of(parameters(side, options));
    side == Role::dial ? check_client(*script, plan) : check_server(*script);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(ScriptOptions, RefuseWhatDoesNotFit) {
  const auto expect_refusal = [](const Settings& options, const std::string& words, Role side = Role::dial) {
    EXPECT_TRUE(refusal(options, side).contains(words)) << words << ": " << refusal(options, side);
  };
  expect_refusal({}, "--send: there is no message");
  expect_refusal({{"send", "{x}"}}, "--send: at character 1: there is no placeholder 'x'");
  expect_refusal({{"send", "a"}, {"expect", "prefx:b"}}, "--expect: 'prefx:b': say what a right reply is");
  expect_refusal({{"send", "a"}, {"expect", "exact:{2}"}}, "{2}: the request has 0 placeholders");
  expect_refusal({{"send", "a{1}"}}, "{1} is a value of a request");
  expect_refusal({{"send", "a{reply:0+1}"}, {"expect", "echo"}}, "leave {1} and echo out");
  expect_refusal({{"send", "a"}, {"reply", "x"}}, "--reply: 'x' is no frame");
  expect_refusal({{"send", "a"}, {"reply", "datagram"}}, "--reply-id");
  expect_refusal({{"send", "a"}, {"reply", "datagram"}, {"reply-id", "u16@0"}}, "a message without {id:u16}");
  expect_refusal({{"send", "a"}, {"reply-id", "u8"}}, "--reply-id: 'u8'");
  expect_refusal({{"send", "a"}, {"first", "b"}}, "--first-expect");
  expect_refusal({{"send", "a"}, {"reply", "close"}, {"first-expect", "prefix:x"}}, "--reply close");
  expect_refusal({{"script", "x = 1"}, {"send", "a"}}, "--send: the script has it");
  expect_refusal({{"script", "snd = 'x'"}}, "--script: snd: there is no such key; did you mean 'send'?");
  expect_refusal({{"script", "send = 1"}}, "--script: send: write a text");
  expect_refusal({{"script", "send ="}}, "--script: line 1");
  expect_refusal({{"script", "[[send]]\nweight = 1"}}, "a message has either text or hex");
  expect_refusal({{"script", "[[send]]\nhex = '0'"}}, "odd number of digits");
  expect_refusal({{"script", "[[send]]\ntext = 'a'\nweight = 0"}},
                 "send[0].weight: write a whole number from 1");
  expect_refusal({{"send", "a"}}, "the message has no reply", Role::serve);
  expect_refusal({{"send", "a"}, {"expect", "echo"}, {"request", "close"}}, "--request", Role::serve);
  expect_refusal({{"send", "a"}, {"answer", "{connection}"}}, "which only a client knows", Role::serve);
  expect_refusal({{"send", "a"}, {"first-expect", "echo"}}, "the first words are no request");
  expect_refusal({{"send", "a"}, {"first", "b"}, {"first-expect", "exact:{1}"}},
                 "the first words are no request");
  expect_refusal({{"send", "a"}, {"first", "{reply:0+1}"}, {"first-expect", "prefix:x"}},
                 "no reply before the first");
  expect_refusal({{"send", "a"}, {"expect", "match:"}}, "the expression is empty");
  expect_refusal({{"send", "{bytes:0..3}"}}, "the message may have no bytes");
  expect_refusal({{"script", "[[send]]\ntext = 'a'\nlast = 'b'"}}, "write last above the first [[send]]");
  std::string dotted = "a";
  for (int i = 0; i < 50'000; ++i) dotted += ".a";
  expect_refusal({{"script", dotted + " = 1"}}, "more than 5000 dots");
  expect_refusal({{"script", "x = {" + dotted + " = 1}"}}, "more than 5000 dots");
  expect_refusal({{"script", "[" + dotted + "]"}}, "more than 5000 dots");
  expect_refusal({{"send", "a{rand:1..9}{message}"}, {"expect", "echo"}}, "put a text between them",
                 Role::serve);
  expect_refusal({{"send", "a{rand:1..9}5"}, {"expect", "echo"}}, "put a text between them", Role::serve);
  expect_refusal({{"send", "a"}, {"answer", "{rand:1..9}"}}, "which only a client knows", Role::serve);
  expect_refusal({{"send", "HEAD / HTTP/1.1\\r\\n\\r\\n"}, {"reply", "http"}}, "say GET");
  const auto with_depth = [](const Settings& options, std::uint64_t depth) {
    return refusal(options, Role::dial, {.depth = depth});
  };
  EXPECT_TRUE(with_depth({{"send", "a"}, {"reply", "close"}}, 2).contains("a connection of its own"));
  EXPECT_TRUE(with_depth({{"send", "a{reply:0+1}"}}, 2).contains("one is under way at a time"));
  EXPECT_TRUE(
      with_depth({{"send", "{id:u16}"}, {"reply-id", "u16"}}, 40'000).contains("the same --reply-id"));
  EXPECT_EQ(with_depth({{"send", "{id:u16}"}, {"reply-id", "u16"}}, 30'000), "");
  EXPECT_EQ(refusal({{"script", "[[send]]\nhex = '50 49 4e47 0a'\nexpect = 'echo'"}}, Role::serve), "");
}

}  // namespace
}  // namespace joust::script
