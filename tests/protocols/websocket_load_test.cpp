// SPDX-License-Identifier: MIT
//
// Both sides of websocket, joined in memory under virtual time; and servers that are wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "protocols/load_fixture.hpp"
#include "protocols/websocket/message.hpp"
#include "protocols/websocket/protocol.hpp"
#include "protocols/websocket_fixture.hpp"
#include "session/handler_session.hpp"

namespace joust::websocket {
namespace {

using namespace test;

Parameters client_parameters(const Settings& options = {}, std::size_t payload = 32) {
  Parameters parameters =
      joust::test::parameters_of(joust::test::protocol_called("websocket"), Role::dial, options);
  parameters.payload = payload;
  return parameters;
}

// What a server sends for each message that it gets: the handshake is message 0.
using Answers = std::function<std::string(int number, const Message& message)>;

// The answer to a handshake, with the right accept value.
std::string right_answer(const Message& handshake) {
  const auto key = key_in(handshake.payload);
  EXPECT_TRUE(key.has_value());
  return answer(accept_of(key.value_or("")));
}

std::string echo(const Message& message) {
  return bare(message.kind == Message::Kind::text ? Opcode::text : Opcode::binary, as_text(message.payload));
}

class WebSocketLoad : public joust::test::JoinedLoad {
 public:
  using JoinedLoad::run_;

 protected:
  WebSocketLoad() : JoinedLoad("websocket") {}

  // Returns what the load says of a server that gives these answers.
  std::string complaint_about(Answers answers, const Settings& options = {}) {
    class Wrong : public Handler {
     public:
      Wrong(Answers answers, std::vector<Message::Kind>& heard)
          : answers_(std::move(answers)), heard_(heard) {}
      bool on_message(Bytes bytes, Writer& replies) override {
        const Message message = Message::read(bytes);
        heard_.push_back(message.kind);
        const std::string reply = answers_(number_++, message);
        if (!reply.empty()) replies.send(reply);
        return message.kind != Message::Kind::close;
      }

     private:
      Answers answers_;
      std::vector<Message::Kind>& heard_;
      int number_ = 0;
    };
    heard_.clear();
    HandlerService server(Own{[] { return std::make_unique<MessageCutter>(Role::dial); }},
                          [&] { return std::make_unique<Wrong>(answers, heard_); });
    load({.messages = 5}, client_parameters(options), server);
    return run_->complaints().empty() ? "" : run_->complaints().front();
  }
  // The same of a server whose handshake is right.
  std::string complaint_about_replies(std::function<std::string(const Message&)> reply,
                                      const Settings& options = {}) {
    return complaint_about(
        [reply](int number, const Message& message) {
          return number == 0 ? right_answer(message) : reply(message);
        },
        options);
  }
  std::vector<Message::Kind> heard_;
};

// A load whose handshake is done and whose first request is sent, and its server's bytes by hand.
class Connected {
 public:
  Connected(WebSocketLoad& test, const LoadPlan& plan) {
    test.run_.emplace(plan);
    client_ = make_client(client_parameters(), *test.run_);
    session_ = client_->open({});
    session_->on_open(Pair::kBegin);
    const std::string head = taken();
    say(answer(accept_of(head.substr(head.find("Key: ") + 5, 24))));
    session_->on_deadline(Pair::kBegin);
    cutter_.next(as_bytes(head));
    EXPECT_EQ(heard().size(), 1U);
  }

  Session& session() { return *session_; }
  void say(std::string_view bytes) { session_->on_bytes(as_bytes(bytes), Pair::kBegin); }
  std::size_t unsent() {
    std::array<Segment, 64> segments;
    std::size_t bytes = 0;
    for (const Segment& one : std::span(segments).first(session_->output(segments))) bytes += one.size();
    return bytes;
  }
  // The payloads of the messages that it has sent since the last call.
  std::vector<std::string> heard() {
    const std::string bytes = taken();
    std::vector<std::string> payloads;
    for (Bytes rest = as_bytes(bytes); !rest.empty();) {
      const CutStep step = cutter_.next(rest);
      rest = rest.subspan(step.taken);
      payloads.emplace_back(as_text(Message::read(step.message).payload));
    }
    return payloads;
  }

 private:
  std::string taken() { return taken_from(*session_); }

  std::unique_ptr<Service> client_;
  std::unique_ptr<Session> session_;
  MessageCutter cutter_{Role::dial};
};

TEST_F(WebSocketLoad, IsAnsweredByItsOwnServerHoweverTheStreamIsCut) {
  const Settings kinds[] = {{},
                            {{"frame", "text"}},
                            {{"fragment", "1"}},
                            {{"fragment", "7"}, {"frame", "text"}, {"path", "/a?b"}, {"host", "x:1"}}};
  for (const Settings& options : kinds)
    for (const std::size_t payload : {1, 32, 125, 126, 5000, 70'000})
      for (const Pair::Cut& cut : {Pair::Cut(Pair::whole), Pair::Cut(Pair::single)}) {
        if (options.contains("fragment") && payload > 7 * 10'000 - 1) continue;
        const auto server = make_server({});
        load({.messages = 7, .depth = 3}, client_parameters(options, payload), *server, cut);
        EXPECT_EQ(verified(), 7U) << (run_->complaints().empty() ? "" : run_->complaints().front());
      }
}

TEST_F(WebSocketLoad, EndsItsConnectionByAClose) {
  EXPECT_EQ(complaint_about_replies(echo), "");
  ASSERT_EQ(heard_.size(), 7U);
  EXPECT_EQ(heard_.front(), Message::Kind::handshake);
  EXPECT_EQ(heard_.back(), Message::Kind::close);
  EXPECT_EQ(verified(), 5U);
}

TEST_F(WebSocketLoad, FindsHandshakesThatAreWrong) {
  const auto complaint = [&](const std::string& text) {
    return complaint_about([text](int, const Message&) { return text; });
  };
  EXPECT_TRUE(
      complaint(answer()).contains("has the Sec-WebSocket-Accept 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=', and"));
  EXPECT_TRUE(complaint(answer("")).contains("Sec-WebSocket-Accept ''"));
  EXPECT_TRUE(complaint("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").contains("404 Not Found"));
  EXPECT_TRUE(complaint("HTTP/1.1 101 Go\r\nUpgrade: websocket\r\n\r\n").contains("has not both"));
  EXPECT_TRUE(complaint("SSH-2.0-x\r\n").contains("not that of HTTP/1.1"));
  EXPECT_TRUE(complaint("HTTP/1.1 101 " + std::string(17'000, 'x')).contains("more than 16 KiB"));
  EXPECT_TRUE(complaint_about([](int, const Message& message) {
                std::string text = right_answer(message);
                return text.insert(text.size() - 2, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
              }).contains("not asked for: Sec-WebSocket-Extensions: permessage-deflate"));
  const auto with_field = [&](const std::string& field) {
    return complaint_about([field](int, const Message& message) {
      std::string text = right_answer(message);
      return text.insert(text.size() - 2, field + "\r\n");
    });
  };
  EXPECT_TRUE(with_field("Sec-WebSocket-Accept: x").contains("Sec-WebSocket-Accept more than once"));
  EXPECT_TRUE(with_field("Content-Length: 5").contains("has a Content-Length or a Transfer-Encoding"));
  EXPECT_TRUE(
      with_field("Transfer-Encoding: chunked").contains("has a Content-Length or a Transfer-Encoding"));
  EXPECT_TRUE(with_field("Sec-WebSocket-Protocol:\r\nSec-WebSocket-Protocol: chat")
                  .contains("not asked for: Sec-WebSocket-Protocol"));
  EXPECT_EQ(verified(), 0U);
}

TEST_F(WebSocketLoad, FindsEachKindOfWrongReply) {
  EXPECT_TRUE(complaint_about_replies([](const Message& message) {
                std::string text = echo(message);
                text.back() ^= 1;
                return text;
              }).contains("not the message that was sent"));
  EXPECT_TRUE(complaint_about_replies([](const Message&) {
                return bare(Opcode::binary, "short");
              }).contains("not the message that was sent"));
  EXPECT_TRUE(complaint_about_replies(
                  [](const Message& message) { return bare(Opcode::binary, as_text(message.payload)); },
                  {{"frame", "text"}})
                  .contains("not the message that was sent"))
      << "another kind of frame";
  EXPECT_TRUE(complaint_about_replies([](const Message& message) {
                return masked(Opcode::binary, as_text(message.payload));
              }).contains("a frame of the server is masked"));
  EXPECT_TRUE(complaint_about_replies([](const Message&) {
                return bare(Opcode::close, code(1011, "no\nmemory"));
              }).contains("with the code 1011: 'no\\x0amemory'"));
  EXPECT_TRUE(complaint_about_replies([](const Message&) {
                return bare(Opcode::close, "");
              }).contains("does not say why"));
  EXPECT_TRUE(complaint_about_replies([](const Message&) {
                return bare(Opcode::text, "\xff");
              }).contains("not UTF-8"));
  EXPECT_TRUE(complaint_about_replies([](const Message&) {
                return std::string("\xc2\x01x");
              }).contains("reserved bit"))
      << "a compressed message";
}

TEST_F(WebSocketLoad, TakesFragmentsAndAnswersPings) {
  EXPECT_EQ(complaint_about_replies([](const Message& message) {
              if (message.kind == Message::Kind::pong || message.kind == Message::Kind::close)
                return std::string();
              const std::string_view text = as_text(message.payload);
              return bare(Opcode::binary, text.substr(0, 5), false) + bare(Opcode::ping, "old") +
                     bare(Opcode::pong, "unasked") + bare(Opcode::ping, "new") +
                     bare(Opcode::continuation, text.substr(5));
            }),
            "");
  EXPECT_EQ(verified(), 5U);
  EXPECT_EQ(std::ranges::count(heard_, Message::Kind::pong), 5) << "one for the pings that came together";
}

TEST_F(WebSocketLoad, AnswersAPingAtOnce) {
  Connected load(*this, {.messages = 5, .depth = 1});
  load.say(bare(Opcode::ping, "first"));
  EXPECT_EQ(load.heard(), (std::vector<std::string>{"first"})) << "while a reply is awaited";
  load.say(bare(Opcode::ping, "second"));
  EXPECT_EQ(load.heard(), (std::vector<std::string>{"second"}));
  load.say(bare(Opcode::pong, "unasked"));
  EXPECT_TRUE(load.heard().empty());
}

TEST_F(WebSocketLoad, AServerThatPingsAndDoesNotReadTakesNoMemory) {
  Connected load(*this, {.messages = 5, .depth = 1});
  const std::string ping = bare(Opcode::ping, std::string(125, 'p'));
  for (int i = 0; i < 10'000; ++i) load.say(ping);
  const std::size_t unsent = load.unsent();
  EXPECT_LT(unsent, 300U << 10);
  for (int i = 0; i < 100; ++i) load.say(ping);
  EXPECT_EQ(load.unsent(), unsent);
}

TEST_F(WebSocketLoad, TellsTheServerWhyItIsRefused) {
  const auto last_words = [&](const std::string& said) {
    Connected load(*this, {.messages = 5, .depth = 1});
    load.say(said);
    EXPECT_TRUE(load.session().finished());
    const auto heard = load.heard();
    return heard.empty() ? "" : heard.back();
  };
  EXPECT_EQ(last_words("\xc2\x01x"), code(1002));
  EXPECT_EQ(last_words(masked(Opcode::binary, "x")), code(1002));
  EXPECT_EQ(last_words(bare(Opcode::text, "\xff")), code(1007));
  EXPECT_EQ(last_words(bare(Opcode::close, code(1011, "no memory"))), code(1011)) << "a close is answered";
  EXPECT_EQ(last_words(bare(Opcode::close, "")), code(1000));
  EXPECT_EQ(last_words(bare(Opcode::binary, "another message")), "") << "no rule of WebSocket is broken";
}

TEST_F(WebSocketLoad, SendsTheSameBytesToEveryServer) {
  std::string sent[2];
  for (std::string& bytes : sent) {
    run_.emplace(LoadPlan{.messages = 5, .depth = 5});
    const auto client = make_client(client_parameters(), *run_);
    const auto session = client->open({});
    session->on_open(Pair::kBegin);
    Segment segment;
    while (session->output({&segment, 1}) > 0) {
      bytes += as_text(segment.bytes);
      session->consumed(segment.size());
      session->released(segment.size());
    }
  }
  EXPECT_EQ(sent[0], sent[1]);
  EXPECT_TRUE(sent[0].starts_with("GET / HTTP/1.1\r\nHost: localhost\r\n"));
}

TEST_F(WebSocketLoad, RefusesOptionsThatDoNotFit) {
  const auto objection = [](const Settings& options, std::size_t payload = 32) -> std::string {
    try {
      client_options(client_parameters(options, payload));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(objection({}), "");
  for (const std::string& path : {std::string(), std::string("x"), std::string("/a b"),
                                  std::string("/a\r\nb"), "/" + std::string(3000, 'x')})
    EXPECT_TRUE(objection({{"path", path}}).starts_with("--path '")) << path;
  for (const char* const host : {"", "a b", "a\r\nb"})
    EXPECT_TRUE(objection({{"host", host}}).starts_with("--host: ")) << host;
  for (const char* const bytes : {"", "x", "-1"})
    EXPECT_TRUE(objection({{"fragment", bytes}}).starts_with("--fragment: ")) << bytes;
  EXPECT_TRUE(objection({{"fragment", "1"}}, 1 << 20).contains("say at least 105"));
  EXPECT_EQ(objection({{"fragment", "105"}}, 1 << 20), "");
  EXPECT_EQ(objection({{"fragment", "1MiB"}}, 1), "");
}

}  // namespace
}  // namespace joust::websocket
