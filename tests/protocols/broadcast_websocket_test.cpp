// SPDX-License-Identifier: MIT
//
// Rooms over WebSocket: the server byte by byte, and both sides joined in memory under virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "load/run.hpp"
#include "protocols/broadcast/protocol.hpp"
#include "protocols/table.hpp"
#include "protocols/websocket/message.hpp"
#include "protocols/websocket_fixture.hpp"
#include "session/handler_session.hpp"
#include "session/pair.hpp"

namespace joust::broadcast {
namespace {

using std::chrono::seconds;
using websocket::Opcode;

using websocket::test::answer;
using websocket::test::bare;
using websocket::test::code;
using websocket::test::masked;
using websocket::test::request;

Parameters parameters_of(Role side, const Settings& options = {}) {
  const auto all = builtin_protocols();
  Parameters parameters = standard_parameters(*std::ranges::find(all, "broadcast", &Protocol::name), side);
  parameters.options["framing"] = "websocket";
  for (const auto& [name, value] : options) parameters.options[name] = value;
  return parameters;
}

std::string content(Kind kind, std::uint32_t member, std::string_view payload = {},
                    std::uint64_t number = 0) {
  const auto head = head_of({.kind = kind, .member = member, .number = number, .payload = {}});
  return std::string(as_text(head)) + std::string(payload);
}
std::string sent(Kind kind, std::uint32_t member, std::string_view payload = {}, std::uint64_t number = 0) {
  return masked(Opcode::binary, content(kind, member, payload, number));
}
std::string got(Kind kind, std::uint32_t member, std::string_view payload = {}, std::uint64_t number = 0) {
  return bare(Opcode::binary, content(kind, member, payload, number));
}

// A connection that a test gives its bytes by hand.
class Visitor {
 public:
  explicit Visitor(Service& room) : session_(room.open({})) {
    session_->on_open(Pair::kBegin);
    say(request());
    EXPECT_EQ(hear(), answer());
  }
  Visitor(Service& room, std::uint32_t member) : Visitor(room) {
    say(sent(Kind::join, member));
    EXPECT_EQ(hear(), got(Kind::welcome, member));
  }

  Session& session() { return *session_; }
  void say(std::string_view bytes, std::size_t piece = SIZE_MAX) {
    while (!bytes.empty() && session_->want() == Want::bytes)
      bytes.remove_prefix(session_->on_bytes(as_bytes(bytes.substr(0, piece)), Pair::kBegin));
  }
  // Takes at most so many bytes of the output, one segment at a time.
  std::string hear(std::size_t most = SIZE_MAX) {
    std::string text;
    for (Segment segment; text.size() < most && session_->output({&segment, 1}) > 0;) {
      const Bytes part = segment.bytes.first(std::min(segment.bytes.size(), most - text.size()));
      text += as_text(part);
      session_->consumed(part.size());
      session_->released(part.size());
    }
    return text;
  }

 private:
  std::unique_ptr<Session> session_;
};

class BroadcastWebSocket : public testing::Test {
 protected:
  void SetUp() override { room_ = make_server(parameters_of(Role::serve)); }

  // Expects that a member that says this is refused with a close code, after what was in the room before.
  void expect_close(const std::string& said, unsigned close_code, std::string_view words) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, SIZE_MAX}) {
      Visitor member(*room_, 1);
      member.say(sent(Kind::message, 1, "last") + said, piece);
      EXPECT_EQ(member.hear(), got(Kind::message, 1, "last") + bare(Opcode::close, code(close_code, words)));
      EXPECT_TRUE(member.session().finished());
      EXPECT_EQ(member.session().complaint(), words);
    }
  }

  std::unique_ptr<Service> room_;
};

TEST_F(BroadcastWebSocket, EveryMessageReachesEveryMemberInAFrameWithoutMask) {
  Visitor one(*room_, 1), two(*room_, 2);
  std::string all;
  for (const std::size_t size : {0, 1, 100, 112, 113, 200, 65'522, 65'523, 65'536}) {
    const std::string payload(size, 'p');
    (size % 2 == 0 ? one : two).say(sent(Kind::message, size % 2 == 0 ? 1 : 2, payload, size), 1000);
    all += got(Kind::message, size % 2 == 0 ? 1 : 2, payload, size);
  }
  EXPECT_TRUE(one.hear() == all);
  EXPECT_TRUE(two.hear(777) + two.hear() == all);
}

TEST_F(BroadcastWebSocket, FragmentsAreJoined) {
  Visitor one(*room_, 1), two(*room_, 2);
  const std::string message = content(Kind::message, 1, "in pieces");
  one.say(masked(Opcode::binary, message.substr(0, 4), false) + masked(Opcode::ping, "between") +
          masked(Opcode::continuation, message.substr(4)));
  EXPECT_EQ(two.hear(), got(Kind::message, 1, "in pieces"));
  EXPECT_EQ(one.hear(), bare(Opcode::pong, "between") + got(Kind::message, 1, "in pieces"));
}

TEST_F(BroadcastWebSocket, APongComesBetweenTwoMessagesOfTheRoom) {
  for (const char* const flush : {"batch", "each"}) {
    room_ = make_server(parameters_of(Role::serve, {{"flush", flush}}));
    Visitor one(*room_, 1), two(*room_, 2);
    const std::string first = got(Kind::message, 1, "first"), second = got(Kind::message, 1, "second", 1),
                      third = got(Kind::message, 1, "third", 2);
    one.say(sent(Kind::message, 1, "first") + sent(Kind::message, 1, "second", 1));
    const std::string begin = two.hear(first.size() + 3);
    two.say(masked(Opcode::ping, "a") + masked(Opcode::ping, "b"));
    one.say(sent(Kind::message, 1, "third", 2));
    two.say(masked(Opcode::ping, "c"));
    EXPECT_EQ(begin + two.hear(), first + second + bare(Opcode::pong, "a") + bare(Opcode::pong, "b") + third +
                                      bare(Opcode::pong, "c"))
        << flush;
    EXPECT_EQ(one.hear(), first + second + third);
  }
}

TEST_F(BroadcastWebSocket, OutputKeepsItsOrderUntilItIsReleased) {
  Visitor one(*room_, 1), two(*room_, 2);
  one.say(sent(Kind::message, 1, "first"));
  std::array<Segment, 4> shown;
  ASSERT_EQ(two.session().output(shown), 1U);
  const std::size_t first = shown[0].bytes.size();
  two.say(masked(Opcode::ping, "a"));
  one.say(sent(Kind::message, 1, "second", 1));
  two.session().consumed(first);  // of a send that began before the ping came
  ASSERT_EQ(two.session().output(shown), 1U);
  const std::string pong(as_text(shown[0].bytes));
  EXPECT_EQ(pong, bare(Opcode::pong, "a"));
  two.session().consumed(pong.size());
  EXPECT_EQ(two.session().output(shown), 0U) << "the message behind it waits until the pong is released";
  two.session().released(first);
  two.session().released(pong.size());
  EXPECT_EQ(two.hear(), got(Kind::message, 1, "second", 1));
}

TEST_F(BroadcastWebSocket, AMemberThatPingsAndDoesNotReadIsNotReadFrom) {
  Visitor one(*room_, 1);
  std::string pings, pongs;
  for (int i = 0; i < 100'000; ++i) pings += masked(Opcode::ping, "");
  one.say(pings);
  EXPECT_EQ(one.session().want(), Want::nothing);
  EXPECT_LT(one.session().memory(), 1U << 20);
  EXPECT_TRUE(one.hear().starts_with(bare(Opcode::pong, "")));
  EXPECT_EQ(one.session().want(), Want::bytes);
}

TEST_F(BroadcastWebSocket, WordsThatWaitKeepNoMessageBack) {
  Visitor one(*room_, 1), two(*room_, 2);
  two.say(masked(Opcode::ping, "a"));
  one.say(sent(Kind::message, 1, "before"));
  two.session().on_drain(Pair::kBegin);
  one.say(sent(Kind::message, 1, "after", 1));
  EXPECT_EQ(two.hear(), bare(Opcode::pong, "a") + got(Kind::message, 1, "before") +
                            bare(Opcode::close, code(1001, "the server stops")));
}

TEST_F(BroadcastWebSocket, FlushEachShowsOneMessageAtATime) {
  room_ = make_server(parameters_of(Role::serve, {{"flush", "each"}}));
  Visitor one(*room_, 1);
  one.say(sent(Kind::message, 1, "a") + sent(Kind::message, 1, std::string(300, 'b'), 1));
  Segment segment;
  ASSERT_EQ(one.session().output({&segment, 1}), 1U);
  EXPECT_EQ(as_text(segment.bytes), got(Kind::message, 1, "a"));
  one.hear(got(Kind::message, 1, "a").size());
  ASSERT_EQ(one.session().output({&segment, 1}), 1U);
  EXPECT_EQ(as_text(segment.bytes), got(Kind::message, 1, std::string(300, 'b'), 1));
}

TEST_F(BroadcastWebSocket, ACloseIsAnsweredAfterTheRoomsMessages) {
  Visitor one(*room_, 1), two(*room_, 2);
  one.say(sent(Kind::message, 1, "before"));
  two.say(masked(Opcode::close, code(1000)) + sent(Kind::message, 2, "unheard"));
  one.say(sent(Kind::message, 1, "after", 1));
  EXPECT_EQ(two.hear(), got(Kind::message, 1, "before") + bare(Opcode::close, code(1000)));
  EXPECT_TRUE(two.session().finished());
  EXPECT_EQ(two.session().complaint(), "") << "the client's wish is no failure";
  EXPECT_FALSE(one.session().finished());
}

TEST_F(BroadcastWebSocket, AServerThatStopsGoesAway) {
  Visitor one(*room_, 1), two(*room_);
  one.say(sent(Kind::message, 1, "last"));
  const std::string goodbye = bare(Opcode::close, code(1001, "the server stops"));
  for (Visitor* const connection : {&one, &two}) connection->session().on_drain(Pair::kBegin);
  EXPECT_EQ(one.hear(), got(Kind::message, 1, "last") + goodbye);
  EXPECT_EQ(two.hear(), goodbye) << "before its join";
  EXPECT_TRUE(one.session().finished());
  EXPECT_EQ(one.session().complaint(), "");

  const auto silent = room_->open({});
  silent->on_open(Pair::kBegin);
  silent->on_drain(Pair::kBegin);
  Segment segment;
  EXPECT_EQ(silent->output({&segment, 1}), 0U) << "there was no handshake";
  EXPECT_TRUE(silent->finished());
}

TEST_F(BroadcastWebSocket, RefusesWithACloseCode) {
  const std::string wrong = "no frame of this protocol";
  expect_close(masked(Opcode::text, "hello"), 1003, "a message is text, and those of a room are binary");
  expect_close(sent(Kind::message, 1, std::string(65'537, 'x')), 1009, "a message has more than 64 KiB");
  expect_close(masked(Opcode::binary, "short"), 1008, wrong);
  expect_close(sent(Kind::message, 2), 1008, wrong);
  expect_close(sent(Kind::join, 1), 1008, wrong);
  expect_close(sent(Kind::welcome, 1), 1008, wrong);
  expect_close(got(Kind::message, 1), 1002, "a frame of the client is not masked");
  expect_close("\xff\x80\1\2\3\4", 1002, "a frame has a reserved bit, and no extension was agreed on");
}

TEST_F(BroadcastWebSocket, RefusesWhoDoesNotJoin) {
  Visitor one(*room_, 1), twin(*room_), silent(*room_);
  twin.say(sent(Kind::join, 1));
  EXPECT_EQ(twin.hear(), got(Kind::refused, 1) +
                             bare(Opcode::close, code(1008, "the member number 1 is taken or too large")));
  EXPECT_TRUE(twin.session().finished());
  silent.session().on_deadline(Pair::kBegin + seconds(30));
  EXPECT_EQ(silent.hear(), bare(Opcode::close, code(1008, "no join within 30.0 s")));

  const auto stranger = room_->open({});
  stranger->on_open(Pair::kBegin);
  const std::string other = "POST / HTTP/1.1\r\n\r\n";
  stranger->on_bytes(as_bytes(other), Pair::kBegin);
  Segment segment;
  ASSERT_EQ(stranger->output({&segment, 1}), 1U);
  EXPECT_TRUE(as_text(segment.bytes).starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(stranger->finished());
}

// The load.

class BroadcastWebSocketLoad : public BroadcastWebSocket {
 protected:
  // Loads a server with one member, and returns the first complaint.
  std::string complaint_about(Service& server, const Pair::Cut& cut = Pair::whole) {
    run_.emplace(LoadPlan{.messages = 20, .depth = 3});
    const auto client = make_client(parameters_of(Role::dial, {{"path", "/room"}}), *run_);
    Pair pair(client->open({}), server.open({}), cut);
    pair.pass(seconds(1));
    EXPECT_TRUE(pair.over());
    return run_->complaints().empty() ? "" : run_->complaints().front();
  }
  std::uint64_t verified() const { return run_->recorder().counts().verified; }

  std::optional<LoadRun> run_;
};

TEST_F(BroadcastWebSocketLoad, IsServedHoweverTheStreamIsCut) {
  for (const Pair::Cut& cut : {Pair::Cut(Pair::whole), Pair::Cut(Pair::single)}) {
    EXPECT_EQ(complaint_about(*room_, cut), "");
    EXPECT_EQ(verified(), 20U);
  }
}

// A server that sends every message back, and with each join what `more` returns.
class SimpleRoom : public Handler {
 public:
  using More = std::function<std::string()>;
  explicit SimpleRoom(More more) : more_(std::move(more)) {}

  bool on_message(Bytes bytes, Writer& replies) override {
    const auto message = websocket::Message::read(bytes);
    switch (message.kind) {
      case websocket::Message::Kind::handshake:
        replies.send(answer(websocket::accept_of(websocket::key_in(message.payload).value_or(""))));
        return true;
      case websocket::Message::Kind::binary:
        if (parse(message.payload)->kind == Kind::join) replies.send(more_());
        replies.send(bytes);
        return true;
      case websocket::Message::Kind::pong:
        return true;
      default:
        return false;
    }
  }

 private:
  More more_;
};

class ForeignRoom : public BroadcastWebSocketLoad {
 protected:
  std::string complaint_about_room_with(const std::string& more) {
    HandlerService server(Own{[] { return std::make_unique<websocket::MessageCutter>(Role::dial); }},
                          [&] { return std::make_unique<SimpleRoom>([&] { return more; }); });
    return complaint_about(server);
  }
};

TEST_F(ForeignRoom, AJoinThatComesBackIsTheWelcome) {
  EXPECT_EQ(complaint_about_room_with(""), "");
  EXPECT_EQ(verified(), 20U);
  EXPECT_EQ(complaint_about_room_with(got(Kind::join, 5) + bare(Opcode::ping, "") + got(Kind::join, 6)), "")
      << "those of others mean nothing";
  EXPECT_EQ(verified(), 20U);
}

TEST_F(ForeignRoom, WhatIsWrongIsNamed) {
  EXPECT_TRUE(complaint_about_room_with(got(Kind::join, 0)).contains("a join came twice"));
  EXPECT_TRUE(complaint_about_room_with(got(Kind::welcome, 1)).contains("not of this protocol"));
  EXPECT_TRUE(complaint_about_room_with(got(Kind::message, 0, "early")).contains("not of this load"));
  EXPECT_TRUE(complaint_about_room_with(bare(Opcode::text, "hello")).contains("a message is text"));
  EXPECT_TRUE(complaint_about_room_with(bare(Opcode::close, code(1013, "full"))).contains("1013: 'full'"));
  EXPECT_EQ(verified(), 0U);
}

TEST_F(BroadcastWebSocket, RefusesOptionsThatDoNotFit) {
  EXPECT_NO_THROW(check_client(parameters_of(Role::dial)));
  EXPECT_THROW(check_client(parameters_of(Role::dial, {{"path", "room"}})), std::invalid_argument);
  EXPECT_THROW(check_client(parameters_of(Role::dial, {{"host", "a b"}})), std::invalid_argument);
}

}  // namespace
}  // namespace joust::broadcast
