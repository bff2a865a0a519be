// SPDX-License-Identifier: MIT
//
// Both sides of http, joined in memory under virtual time.
#include <cerrno>
#include <optional>
#include <regex>

#include "protocols/http/client.hpp"
#include "protocols/http/protocol.hpp"
#include "protocols/http_fixture.hpp"
#include "protocols/load_fixture.hpp"
#include "session/handler_session.hpp"

namespace joust::http::test {
namespace {

Parameters parameters(Role side, const Settings& options = {}) {
  return joust::test::parameters_of(joust::test::protocol_called("http"), side, options);
}

class HttpLoad : public joust::test::JoinedLoad {
 protected:
  HttpLoad() : JoinedLoad("http") {}

  void load(const LoadPlan& plan, const Settings& options, Service& server, Pair::Cut cut = Pair::whole) {
    JoinedLoad::load(plan, parameters(Role::dial, options), server, std::move(cut));
  }
  // What a load says of a server that answers like this.
  std::string complaint_about(const std::string& reply) {
    class Says : public Handler {
     public:
      explicit Says(std::string reply) : reply_(std::move(reply)) {}
      bool on_message(Bytes, Writer& replies) override {
        replies.send(reply_);
        return true;
      }

     private:
      const std::string reply_;
    };
    HandlerService server(Raw{}, [reply] { return std::make_unique<Says>(reply); });
    load({.messages = 2}, {}, server);
    if (run_->complaints().empty()) return std::to_string(run_->recorder().counts().verified) + " verified";
    return without_reply(run_->complaints()[0]);
  }

  // Without the request before it and the bytes that came behind it.
  static std::string without_reply(const std::string& complaint) {
    return std::regex_replace(complaint, std::regex(R"(request 0 of connection 0: (.*?); \d+ bytes .*)"),
                              "$1");
  }
};

TEST_F(HttpLoad, IsAnsweredHoweverTheStreamIsCut) {
  for (const Pair::Cut& cut : {Pair::Cut(Pair::whole), Pair::Cut(Pair::single)}) {
    const auto server = make_server(parameters(Role::serve, {{"text", "other"}}));
    load({.messages = 100, .depth = 3}, {{"text", "other"}, {"path", "/?a=b"}}, *server, cut);
    EXPECT_EQ(run_->recorder().counts().verified, 100U);
    EXPECT_EQ(run_->recorder().counts().failed, 0U);
  }
}

TEST_F(HttpLoad, LooksAtEveryReply) {
  const std::string right = "HTTP/1.1 200 OK\r\nX: y\r\ncontent-length: 13\r\n\r\nHello, World!";
  EXPECT_EQ(complaint_about(right), "2 verified");
  EXPECT_EQ(complaint_about("HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\nWhere?"),
            "verify: GET /: the status of a reply is 404, and not 200; its body begins with 'Where?'");
  EXPECT_EQ(complaint_about("HTTP/1.1 204 No Content\r\n\r\n"),
            "verify: GET /: the status of a reply is 204, and not 200; its body begins with ''");
  const std::string differs = "verify: GET /: the body of a reply is not that of --text: ";
  EXPECT_EQ(complaint_about("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World?"),
            differs + "12 of its 13 bytes are right, then comes '?', and not '!'");
  EXPECT_EQ(complaint_about("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello, World"),
            differs + "12 of its 12 bytes are right, then comes its end, and not '!'");
  EXPECT_EQ(complaint_about("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\nHello, World!\r\n"),
            differs + "13 of its 15 bytes are right, then comes '\\x0d\\x0a', and not its end");
  EXPECT_EQ(complaint_about("no HTTP\r\n\r\n"),
            "verify: the head of a reply cannot be read (bad version): it begins with 'no HTTP'");
}

// It has come in chunks, and is compared as one text.
TEST_F(HttpLoad, LooksAtRepliesInChunks) {
  const std::string begin = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n";
  EXPECT_EQ(complaint_about(begin + "8;x\r\n, World!\r\n0\r\n\r\n"), "2 verified");
  EXPECT_EQ(
      complaint_about(begin + "8\r\n, World?\r\n0\r\n\r\n"),
      "verify: GET /: the body of a reply is not that of --text: 12 of its 13 bytes are right, then comes "
      "'?', and not '!'");
}

// What a server hears that answers each request, whose body has `body` bytes, by `reply`.
class HttpClientRequests : public HttpLoad {
 protected:
  std::vector<std::string> heard(const Settings& options, const std::string& reply, std::size_t body = 0,
                                 std::uint64_t messages = 1) {
    class Hears : public Handler {
     public:
      Hears(std::vector<std::string>& into, std::string reply, std::size_t body)
          : into_(into), reply_(std::move(reply)), body_(body) {}
      bool on_message(Bytes bytes, Writer& replies) override {
        held_ += as_text(bytes);
        const std::size_t end = held_.find("\r\n\r\n");
        if (end == held_.npos || held_.size() < end + 4 + body_) return true;
        into_.push_back(std::exchange(held_, ""));
        replies.send(reply_);
        return true;
      }

     private:
      std::vector<std::string>& into_;
      const std::string reply_;
      const std::size_t body_;
      std::string held_;
    };
    std::vector<std::string> all;
    HandlerService server(Raw{}, [&] { return std::make_unique<Hears>(all, reply, body); });
    load({.messages = messages}, options, server);
    return all;
  }
  std::uint64_t verified() const { return run_->recorder().counts().verified; }
};

constexpr auto kHello = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!";

TEST_F(HttpClientRequests, HaveTheMethodTheFieldsAndTheBodyThatWereSaid) {
  EXPECT_EQ(heard({}, kHello).at(0), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(heard({{"method", "POST"}, {"data", "a=b"}, {"header", "Accept: */*\nX-A:b"}}, kHello, 3).at(0),
            "POST / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nX-A:b\r\nContent-Length: 3\r\n\r\na=b");
  EXPECT_EQ(verified(), 1U);
  EXPECT_EQ(heard({{"method", "PUT"}}, kHello).at(0),
            "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(heard({{"method", "DELETE"}, {"path", "/x"}}, kHello).at(0),
            "DELETE /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

TEST_F(HttpClientRequests, HaveRepliesWithoutBodyToHead) {
  for (const std::string fields : {"Content-Length: 13\r\n", "Transfer-Encoding: chunked\r\n", ""}) {
    heard({{"method", "HEAD"}}, "HTTP/1.1 200 OK\r\n" + fields + "\r\n", 0, 5);
    EXPECT_EQ(verified(), 5U) << fields;
  }
  heard({{"method", "HEAD"}}, "HTTP/1.1 404 Not Found\r\n\r\n");
  EXPECT_EQ(verified(), 0U);
}

TEST_F(HttpClientRequests, ArePickedByTheWeightsOfTheirPaths) {
  const Settings options{{"path", "# a comment\n/a\r\n\n3 /b?c=d\n"}, {"body", "any"}};
  const auto all = heard(options, kHello, 0, 2000);
  const auto of_a =
      std::ranges::count_if(all, [](auto& one) { return one.starts_with("GET /a HTTP/1.1\r\n"); });
  const auto of_b = std::ranges::count_if(all, [](auto& one) { return one.starts_with("GET /b?c=d HTTP"); });
  EXPECT_EQ(of_a + of_b, 2000);
  EXPECT_NEAR(static_cast<double>(of_a), 500, 97);  // five standard deviations
  EXPECT_EQ(heard(options, kHello, 0, 2000), all) << "the same in each load";
}

TEST_F(HttpClientRequests, HaveTheStatusThatWasSaid) {
  const auto right = [this](const std::string& status, int of_reply) {
    heard({{"status", status}, {"body", "any"}},
          "HTTP/1.1 " + std::to_string(of_reply) + " X\r\nContent-Length: 0\r\n\r\n");
    return verified() == 1;
  };
  EXPECT_TRUE(right("404", 404));
  EXPECT_TRUE(right("2xx", 201));
  EXPECT_TRUE(right("200,3xx", 302));
  EXPECT_TRUE(right("any", 500));
  EXPECT_FALSE(right("200,3xx", 201));
  EXPECT_FALSE(right("2xx", 304));
  EXPECT_EQ(without_reply(run_->complaints().at(0)),
            "verify: GET /: the status of a reply is 304, and not 2xx; its body begins with ''");
}

// A reply for one path is not right for another one that was seen before.
TEST_F(HttpClientRequests, AreComparedPathByPath) {
  heard({{"path", "/a\n/b\n/c"}}, kHello, 0, 50);
  EXPECT_EQ(verified(), 50U);
}

TEST_F(HttpClientRequests, AreRefusedIfTheyCannotBe) {
  const auto objection = [](const Settings& options) -> std::string {
    try {
      ClientPlan{parameters(Role::dial, options)};
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(objection({}), "");
  for (const char* const method : {"", "get", "GET /x", "CONNECT", "VERYLONGMETHODWITHOUTEND"})
    EXPECT_TRUE(objection({{"method", method}}).starts_with("--method: ")) << method;
  EXPECT_TRUE(objection({{"data", "x"}}).contains("say --method POST"));
  EXPECT_TRUE(
      objection({{"method", "POST"}, {"data", std::string(70'000, 'x')}}).starts_with("--data: at most"));
  for (const char* const field : {"X", ": y", "X Y: z", "A: b\rC: d"})
    EXPECT_TRUE(objection({{"header", field}}).starts_with("--header: ")) << field;
  EXPECT_TRUE(objection({{"header", "HOST: x"}}).contains("--host"));
  EXPECT_TRUE(objection({{"header", "Content-length: 3"}}).contains("--data"));
  for (const char* const status : {"", "20", "2000", "xx2", "6xx", "200,", "200 201"})
    EXPECT_TRUE(objection({{"status", status}}).starts_with("--status: ")) << status;
  for (const char* const path : {"", "a", "#", "0 /a", "x /a", "1 a", "/a b", "1 2 /a"})
    EXPECT_TRUE(objection({{"path", path}}).starts_with("--path")) << path;
}

// The server's part is done by hand.
class HttpLast : public HttpLoad {
 protected:
  void begin(const LoadPlan& plan) {
    run_.emplace(plan);
    client_ = make_client(parameters(Role::dial), *run_);
    first_ = connect();
  }
  std::unique_ptr<Session> connect() {
    auto session = client_->open({});
    session->on_open(kStart);
    return session;
  }
  static void hear(Session& session, std::string_view text) {
    EXPECT_EQ(session.on_bytes(as_bytes(text), kStart), text.size());
  }
  void expect_the_last(Session& session, std::uint64_t verified) {
    EXPECT_TRUE(session.finished());
    EXPECT_EQ(run_->recorder().counts().verified, verified);
    EXPECT_TRUE(client_->redial(kStart).has_value());
    EXPECT_TRUE(run_->complaints().empty());
  }

  std::unique_ptr<Service> client_;
  std::unique_ptr<Session> first_;
};

TEST_F(HttpLast, AReplyThatSaysCloseIsTheLastOfItsConnection) {
  begin({.messages = 3, .depth = 2});
  hear(*first_, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 13\r\n\r\nHello, World!and more");
  expect_the_last(*first_, 1);
  const auto next = connect();
  const std::string right = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!";
  hear(*next, right + right);
  EXPECT_TRUE(next->finished());
  EXPECT_EQ(run_->recorder().counts().verified, 3U);
}

TEST_F(HttpLast, AReplyMayEndWithItsConnection) {
  begin({.messages = 2});
  hear(*first_, "HTTP/1.1 200 OK\r\n\r\nHello, ");
  hear(*first_, "World!");
  EXPECT_EQ(run_->recorder().counts().verified, 0U);
  first_->on_peer_finished(kStart);
  expect_the_last(*first_, 1);
}

TEST_F(HttpLast, AReplyThatEndsWithItsConnectionIsLookedAt) {
  begin({.messages = 2});
  hear(*first_, "HTTP/1.0 200 OK\r\n\r\nHello, World");
  first_->on_peer_finished(kStart);
  ASSERT_EQ(run_->complaints().size(), 1U);
  EXPECT_EQ(
      run_->complaints()[0],
      "verify: request 0 of connection 0: GET /: the body of a reply is not that of --text: 12 of its 12 "
      "bytes are right, then comes its end, and not '!'; 31 bytes came: "
      "\"HTTP/1.0 200 OK\\x0d\\x0a\\x0d\\x0aHello, World\"");
}

TEST_F(HttpLast, AConnectionThatEndsWithoutAWordHasFailed) {
  begin({.messages = 2});
  hear(*first_, "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, ");
  first_->on_peer_finished(kStart);
  ASSERT_EQ(run_->complaints().size(), 1U);
  EXPECT_EQ(
      run_->complaints()[0],
      "receive: the server closed the connection early; if it refused a message, its output has the reason");
  EXPECT_EQ(client_->redial(kStart), std::nullopt);
}

TEST_F(HttpLast, AResetDoesNotEndAReply) {
  begin({.messages = 2});
  hear(*first_, "HTTP/1.1 200 OK\r\n\r\nHello, World!");
  first_->on_failure({Stage::receive, ECONNRESET, {}}, kStart);
  EXPECT_EQ(run_->recorder().counts().verified, 0U) << "more may have been on its way";
  EXPECT_EQ(run_->connections_failed(), 1U);
}

TEST_F(HttpLoad, SaysThatItsPathIsNotThere) {
  const auto server = make_server(parameters(Role::serve));
  load({.messages = 2}, {{"path", "/none"}}, *server);
  ASSERT_EQ(run_->complaints().size(), 1U);
  EXPECT_EQ(without_reply(run_->complaints()[0]),
            "verify: GET /none: the status of a reply is 404, and not 200; its body begins "
            "with '404 Not Found\\x0a'");
}

}  // namespace
}  // namespace joust::http::test
