// SPDX-License-Identifier: MIT
//
// Connections: how long they last, and what ends them.
#include "joust/load_plan.hpp"
#include "protocols/http_fixture.hpp"
#include "protocols/table.hpp"

namespace joust::http::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using namespace std::literals;

class HttpSessions : public HttpTest {
 protected:
  std::string at(Duration time) {
    now_ = kStart + time;
    pass_deadline();
    return take_output();
  }
  static std::string requests(int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += kGet;
    return all;
  }
  // How many replies these are.
  static int replies(std::string heard) {
    int count = 0;
    for (; !heard.empty(); ++count) EXPECT_EQ(take_reply(heard).body, "Hello, World!");
    return count;
  }
};

TEST_F(HttpSessions, AnswerWithTheText) {
  EXPECT_EQ(say(kGet),
            "HTTP/1.1 200 OK\r\nServer: joust\r\nDate: Fri, 23 Oct 2026 08:53:37 GMT\r\n"
            "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\n\r\nHello, World!");
  const Reply head = get("/", "", "HEAD");
  EXPECT_EQ(head.fields.at("Content-Length"), "13");
  const Reply last = get("/", "Connection: close\r\n");
  EXPECT_EQ(last.body, "Hello, World!");
  EXPECT_EQ(last.fields.at("Connection"), "close");
}

TEST_F(HttpSessions, LastUntilEitherSideWantsToClose) {
  const auto lasts = [this](const std::string& request, const std::string& connection) {
    again();
    const Reply reply = ask(request + "\r\n");
    const auto field = reply.fields.find("Connection");
    EXPECT_EQ(field == reply.fields.end() ? "" : field->second, connection) << request;
    return !session().finished();
  };
  EXPECT_TRUE(lasts("GET / HTTP/1.1\r\nHost: a\r\n", ""));
  EXPECT_TRUE(lasts("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n", ""));
  EXPECT_FALSE(lasts("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n", "close"));
  EXPECT_FALSE(lasts("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE\r\n", "close"));
  EXPECT_FALSE(lasts("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n", "close"));
  EXPECT_FALSE(lasts("GET / HTTP/1.0\r\n", "close"));
  EXPECT_TRUE(lasts("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n", "keep-alive"));
}

TEST_F(HttpSessions, AnswerNothingBehindTheLastRequest) {
  std::string heard = say("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + std::string(kGet));
  take_reply(heard);
  EXPECT_EQ(heard, "");
  EXPECT_TRUE(session().finished());
  EXPECT_EQ(session().complaint(), "");
}

TEST_F(HttpSessions, HaveAsManyRequestsAsTheyMay) {
  most_requests_ = 2;
  EXPECT_FALSE(get("/").fields.contains("Connection"));
  EXPECT_EQ(get("/").fields.at("Connection"), "close");
  EXPECT_TRUE(session().finished());
}

TEST_F(HttpSessions, DoNotReadWhileRepliesAreUnread) {
  const std::string many = requests(10'000);
  std::size_t taken = 0;
  do taken += session().on_bytes(as_bytes(many).subspan(taken), now_);
  while (pass_deadline() && session().want() == Want::bytes);
  EXPECT_LT(taken, many.size());
  EXPECT_EQ(session().want(), Want::nothing);
  EXPECT_FALSE(pass_deadline()) << "only the peer's reading helps";
  std::string heard = take_output();
  EXPECT_LT(heard.size(), 300U << 10);
  heard += say(std::string_view(many).substr(taken));
  EXPECT_EQ(replies(heard), 10'000);
}

// Thousands of requests fit into one read, and a loop's other peers would wait for all of them.
TEST_F(HttpSessions, LetOthersHaveTheirTurn) {
  constexpr int kMany = 1'000, kMostInTurn = 64;
  const std::string many = requests(kMany);
  Bytes left = as_bytes(many);
  int answered = 0;
  for (int turn = 0; turn < kMany && answered < kMany; ++turn) {
    now_ += milliseconds(1);
    pass_deadline();
    if (session().want() == Want::bytes) left = left.subspan(session().on_bytes(left, now_));
    const int more = replies(take_output());
    EXPECT_LE(more, kMostInTurn);
    EXPECT_TRUE(left.empty() || session().want() == Want::nothing) << "replies that are sent begin no turn";
    EXPECT_TRUE(left.empty() || session().deadline() == now_) << "it waits for nobody";
    answered += more;
  }
  EXPECT_EQ(answered, kMany);
  EXPECT_FALSE(session().deadline());
}

TEST_F(HttpSessions, CountAllReadsOfATurn) {
  const std::string some = requests(20);
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(session().want(), Want::bytes);
    session().on_bytes(as_bytes(some), now_);
  }
  EXPECT_EQ(session().want(), Want::nothing);
  EXPECT_EQ(replies(take_output()), 64);
  session().on_drain(now_);
  EXPECT_FALSE(session().finished()) << "requests have arrived before the stop";
}

TEST_F(HttpSessions, TellTheDateOfTheDay) {
  static std::int64_t wall = 0;
  wall = (kToday * 10 + 4) * 100'000'000;  // 400 ms after the second
  const DateClock clock([] { return wall; });
  EXPECT_EQ(clock.at(kStart).text, kTodayText);
  wall += 1'000'000'000;
  EXPECT_EQ(clock.at(kStart + milliseconds(599)).text, kTodayText) << "asked once a second";
  EXPECT_EQ(clock.at(kStart + milliseconds(600)).text, "Fri, 23 Oct 2026 08:53:38 GMT");
  EXPECT_EQ(clock.at(kStart + milliseconds(600)).seconds, kToday + 1);
  const DateClock other([] { return std::int64_t{0}; });
  EXPECT_EQ(other.at(kStart + milliseconds(600)).text, "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST_F(HttpSessions, EndASlowRequest) {
  EXPECT_EQ(say("GET / HTTP/1.1\r\n"), "");
  EXPECT_EQ(at(seconds(9)), "");
  say("Host: a\r\n");
  std::string heard = at(seconds(10));
  EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 408 Request Timeout");
  EXPECT_TRUE(session().finished());
  EXPECT_EQ(session().complaint(), "a request comes slower than 1.00 KiB/s for 10.0 s");
  EXPECT_EQ(counts_.too_slow, 1U);
}

TEST_F(HttpSessions, GiveEachRequestItsTime) {
  say("GET / HTTP/1.1\r\n");
  at(seconds(9));
  std::string heard = say("Host: a\r\n\r\nGET / HTTP/1.1\r\n");
  EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 200 OK");
  EXPECT_EQ(at(seconds(18)), "");
  heard = say("Host: a\r\n\r\n");
  EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 200 OK");
  EXPECT_FALSE(session().deadline()) << "between requests there is no limit but the engine's";
}

TEST_F(HttpSessions, CountTheBytesOfTheRequestAlone) {
  std::string pipeline;
  while (pipeline.size() < 20'000) pipeline += kGet;
  say(pipeline + "GET / HTTP/1.1\r\n");
  std::string heard = at(seconds(10));
  EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 408 Request Timeout");
}

TEST_F(HttpSessions, EndAPeerThatSendsEmptyLinesOnly) {
  int lines = 0;
  std::string heard;
  while (lines < 100 && !session().finished()) {
    heard += say("\r\n");
    ++lines;
  }
  EXPECT_LT(lines, 10);
  EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 400 Bad Request");
}

TEST_F(HttpSessions, GiveUpAPeerThatDoesNotRead) {
  session().on_bytes(as_bytes(kGet), now_);
  now_ = kStart + seconds(60);
  ASSERT_TRUE(session().deadline());
  EXPECT_EQ(*session().deadline(), now_);
  session().on_deadline(now_);
  EXPECT_TRUE(session().gives_up());
  EXPECT_EQ(session().complaint(), "a reply is read slower than 1.00 KiB/s for 60.0 s");
}

TEST_F(HttpSessions, AnswerAPeerThatHasEndedItsSide) {
  session().on_bytes(as_bytes(kGet), now_);
  session().on_peer_finished(now_);
  EXPECT_TRUE(session().finished());
  std::string heard = take_output();
  EXPECT_EQ(take_reply(heard).body, "Hello, World!");
}

TEST_F(HttpSessions, FinishWhatHasBegunBeforeAStop) {
  session().on_drain(now_);
  EXPECT_TRUE(session().finished()) << "nothing has begun";
  again();
  say("GET / HTT");
  session().on_drain(now_);
  EXPECT_FALSE(session().finished());
  std::string heard = say("P/1.1\r\nHost: a\r\n\r\n" + std::string(kGet));
  EXPECT_EQ(take_reply(heard).body, "Hello, World!");
  EXPECT_EQ(take_reply(heard).body, "Hello, World!") << "it has come with the one that had begun";
  EXPECT_TRUE(session().finished());
}

TEST_F(HttpSessions, FinishAFileAndTheRequestsBehindItBeforeAStop) {
  with_files_ = true;
  storage_.add("large", std::string(50'000, 'x'));
  const std::string requests = "GET /large HTTP/1.1\r\nHost: a\r\n\r\nGET /none HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::size_t taken = session().on_bytes(as_bytes(requests), now_);
  ASSERT_LT(taken, requests.size());
  session().on_drain(now_);
  EXPECT_FALSE(session().finished());
  std::string heard = take_output();
  EXPECT_EQ(take_reply(heard).body.size(), 50'000U);
  EXPECT_FALSE(session().finished()) << "a request has arrived before the stop";
  heard = say(std::string_view(requests).substr(taken));
  EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 404 Not Found");
  EXPECT_TRUE(session().finished());
}

// Bytes that are not released yet are still in use when the file's last ones are consumed.
TEST_F(HttpSessions, KeepAFileUntilItsBytesAreReleased) {
  with_files_ = true;
  storage_.add("large", std::string(50'000, 'x'));
  session().on_bytes(as_bytes("GET /large HTTP/1.1\r\nHost: a\r\n\r\n"sv), now_);
  std::array<Segment, 4> shown;
  std::size_t all = 0;
  while (const std::size_t count = session().output(shown)) {
    for (std::size_t i = 0; i < count; ++i) {
      all += shown[i].size();
      session().consumed(shown[i].size());
      break;
    }
  }
  const std::weak_ptr<File> file = storage_.files["large"].file;
  storage_.files.clear();
  EXPECT_FALSE(file.expired());
  EXPECT_EQ(session().want(), Want::nothing);
  session().released(all - 1);
  EXPECT_FALSE(file.expired());
  session().released(1);
  EXPECT_TRUE(file.expired());
  EXPECT_EQ(session().want(), Want::bytes);
}

TEST_F(HttpSessions, TakeNoWrongOptions) {
  const auto all = builtin_protocols();
  const Protocol http = *std::ranges::find(all, "http", &Protocol::name);
  const auto with = [&](Role side, const std::string& option, const std::string& value) {
    Parameters parameters = standard_parameters(http, side);
    parameters.options[option] = value;
    return parameters;
  };
  for (const auto& [option, value] :
       {std::pair{"min-rate", "fast"}, {"requests-per-connection", "-1"}, {"root", "/no/such/folder"}})
    EXPECT_THROW(http.make_server(with(Role::serve, option, value)), std::invalid_argument) << option;
  EXPECT_THROW(http.make_server(with(Role::serve, "text", std::string(70'000, 'x'))), std::invalid_argument);
  for (const auto& [option, value] : {std::pair{"path", "index.html"},
                                      {"path", "/a b"},
                                      {"path", "/a\r\nX: y"},
                                      {"path", ""},
                                      {"host", ""},
                                      {"host", "a b"},
                                      {"host", "a\n"}})
    EXPECT_THROW(http.check_client(with(Role::dial, option, value), LoadPlan{}), std::invalid_argument)
        << option;
}

}  // namespace
}  // namespace joust::http::test
