// SPDX-License-Identifier: MIT
//
// Which hosts a server on loopback answers: a page of another one must not read its files.
#include <fmt/format.h>

#include <stdexcept>

#include "protocols/http/protocol.hpp"
#include "protocols/http_fixture.hpp"
#include "protocols/table.hpp"

namespace joust::http::test {
namespace {

TEST(AllowedHosts, AreAllWhereNothingElseIsSaid) {
  for (const char* host : {"", "evil.example", "127.0.0.1"}) EXPECT_TRUE(AllowedHosts().contain(host));
}

TEST(AllowedHosts, OfLoopbackAreItsNames) {
  const AllowedHosts hosts = AllowedHosts::of_loopback("");
  for (const char* host : {"localhost", "localhost:8080", "localhost:", "localhost.", "LocalHost.:80",
                           "127.0.0.1", "127.0.0.1:80", "127.1.2.3", "127.0.0.1.", "[::1]", "[::1]:80",
                           "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]:80", ""})
    EXPECT_TRUE(hosts.contain(host)) << host;
  for (const char* host : {"evil.example",
                           "evil.example:8080",
                           "127.0.0.1.evil.example",
                           "localhost.evil.example",
                           "xlocalhost",
                           "a.localhost",
                           "localhost..",
                           "127.1",
                           "2130706433",
                           "0.0.0.0",
                           "[::]",
                           "[::2]",
                           "10.0.0.1",
                           "::1",
                           "[127.0.0.1]",
                           "[]",
                           "[",
                           "[::1",
                           "%6cocalhost",
                           ".",
                           ":80"})
    EXPECT_FALSE(hosts.contain(host)) << host;
}

TEST(AllowedHosts, MayBeNamed) {
  const AllowedHosts hosts = AllowedHosts::of_loopback("Dev.example,other.example.:81,[fd00::1],10.0.0.1");
  for (const char* host :
       {"dev.example", "DEV.EXAMPLE:80", "other.example", "[FD00::1]:80", "10.0.0.1", "localhost"})
    EXPECT_TRUE(hosts.contain(host)) << host;
  for (const char* host : {"example", "a.dev.example", "dev.example.evil", "10.0.0.2"})
    EXPECT_FALSE(hosts.contain(host)) << host;
}

TEST(AllowedHosts, AreRefusedIfTheyAreNone) {
  for (const char* text : {"a b", "a,,b", ",", "http://a", "a@b", "a/b"})
    EXPECT_THROW(AllowedHosts::of_loopback(text), std::invalid_argument) << text;
}

class HttpHosts : public HttpTest {
 protected:
  HttpHosts() {
    with_files_ = true;
    storage_.add("secret", "secret");
    hosts_ = AllowedHosts::of_loopback("dev.example");
  }
  std::string status(const std::string& request) {
    again();
    std::string heard = say(request);
    return take_reply(heard).status.substr(9);
  }
  // For a file that is there.
  std::string status_for(const std::string& host) {
    return status(fmt::format("GET /secret HTTP/1.1\r\nHost: {}\r\n\r\n", host));
  }
};

TEST_F(HttpHosts, OthersAreMisdirected) {
  for (const char* host : {"localhost:8080", "127.0.0.1", "[::1]:80", "dev.example"})
    EXPECT_EQ(status_for(host), "200 OK") << host;
  for (const char* host : {"evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example"})
    EXPECT_EQ(status_for(host), "421 Misdirected Request") << host;
  EXPECT_EQ(status("GET /none HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "421 Misdirected Request")
      << "nothing is told of what is there";
  EXPECT_EQ(status("HEAD /secret HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "421 Misdirected Request");
  EXPECT_EQ(status("OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "421 Misdirected Request");
}

TEST_F(HttpHosts, TheTargetSaysItIfItIsAbsolute) {
  EXPECT_EQ(status("GET http://evil.example/secret HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            "421 Misdirected Request");
  EXPECT_EQ(status("GET HTTP://evil.example?x HTTP/1.0\r\n\r\n"), "421 Misdirected Request");
  EXPECT_EQ(status("GET http://LOCALHOST:80/secret HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "200 OK")
      << "the field does not count then (RFC 9112, 3.2.2)";
  EXPECT_EQ(status("GET http://localhost@evil.example/secret HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            "421 Misdirected Request");
  EXPECT_EQ(status("GET http://localhost:80@evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            "400 Bad Request");
}

// No browser sends such a request.
TEST_F(HttpHosts, ARequestWithoutAHostIsAnswered) {
  EXPECT_EQ(status("GET /secret HTTP/1.0\r\n\r\n"), "200 OK");
  EXPECT_EQ(status_for(""), "200 OK");
  EXPECT_EQ(status("GET /secret HTTP/1.0\r\nHost: evil.example\r\n\r\n"), "421 Misdirected Request");
  EXPECT_EQ(status("GET /secret HTTP/1.1\r\n\r\n"), "400 Bad Request");
}

TEST_F(HttpHosts, TheConnectionGoesOn) {
  std::string heard =
      say("GET /secret HTTP/1.1\r\nHost: evil.example\r\n\r\n"
          "GET /secret HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Reply refused = take_reply(heard);
  EXPECT_EQ(refused.status, "HTTP/1.1 421 Misdirected Request");
  EXPECT_NE(refused.body.find("--allowed-hosts"), std::string::npos) << "what to do about it";
  EXPECT_EQ(take_reply(heard).body, "secret");
  EXPECT_EQ(session().complaint(), "");
  EXPECT_EQ(counts_.refused, 1U);
}

// The text is one more thing that is served.
TEST_F(HttpHosts, TheTextIsForTheseHostsOnly) {
  with_files_ = false;
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a.localhost\r\n\r\n"), "421 Misdirected Request");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "200 OK");
}

TEST_F(HttpHosts, ABodyIsNotTakenForARequest) {
  std::string heard =
      say("POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 3\r\n\r\n" + std::string(kGet));
  EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 421 Misdirected Request");
  EXPECT_EQ(heard, "");
  EXPECT_TRUE(session().finished());
}

Settings in_a_race(Settings server, const std::string& host) {
  const auto all = builtin_protocols();
  const Protocol& http = *std::ranges::find(all, "http", &Protocol::name);
  Parameters client = standard_parameters(http, Role::dial);
  client.options["host"] = host;
  return http.repeatable(std::move(server), client);
}

TEST(HttpRace, ItsServerAnswersTheHostThatIsAskedFor) {
  EXPECT_EQ(in_a_race({}, "localhost"), Settings{});
  EXPECT_EQ(in_a_race({{"text", "x"}}, "127.0.0.1:80"), (Settings{{"text", "x"}}));
  EXPECT_EQ(in_a_race({}, "dev.example:80"), (Settings{{"allowed-hosts", "dev.example:80"}}));
  EXPECT_EQ(in_a_race({{"allowed-hosts", "a"}}, "b"), (Settings{{"allowed-hosts", "a,b"}}));
  EXPECT_EQ(in_a_race({{"allowed-hosts", "a"}}, "A"), (Settings{{"allowed-hosts", "a"}}));
}

}  // namespace
}  // namespace joust::http::test
