// SPDX-License-Identifier: MIT
//
// What is a request, and what is none.
#include <fmt/format.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "protocols/http_fixture.hpp"
#include "session/allocations.hpp"

namespace joust::http::test {
namespace {

using namespace std::literals;

class HttpRequests : public HttpTest {
 protected:
  // The status line of the first reply, and that the connection ends by it.
  void refused(const std::string& request, const std::string& status) {
    SCOPED_TRACE(testing::PrintToString(request.substr(0, 200)));
    again();
    std::string heard = say(request + std::string(kGet));
    EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 " + status);
    EXPECT_EQ(heard, "") << "nothing behind it may be answered";
    EXPECT_TRUE(session().finished());
    EXPECT_EQ(session().want(), Want::nothing);
    EXPECT_EQ(session().complaint(), "a request is refused: " + status);
  }
  void accepted(const std::string& request, const std::string& status = "200 OK") {
    SCOPED_TRACE(testing::PrintToString(request.substr(0, 200)));
    again();
    std::string heard = say(request + std::string(kGet));
    EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 " + status);
    EXPECT_EQ(take_reply(heard).status, "HTTP/1.1 200 OK") << "the connection is kept";
    EXPECT_EQ(heard, "");
    EXPECT_EQ(session().complaint(), "");
  }
};

TEST_F(HttpRequests, AreAnswered) {
  accepted("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted("GET / HTTP/1.1\r\nhost:a\r\n\r\n");
  accepted("GET / HTTP/1.1\r\nHost: \t a:80 \t \r\n\r\n");
  accepted("GET / HTTP/1.1\r\nHost:\r\n\r\n");
  for (const char* host : {"a.b-c_d", "127.0.0.1", "127.0.0.1:80", "a:", "[::1]", "[::1]:80", "a%20b", "*.a"})
    accepted(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host));
  accepted("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted("GET /?a=b HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted("GET http://example.org HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted("GET HTTP://example.org:80/?x HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted("GET http://example.org?x HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", "404 Not Found");
  accepted("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  accepted("GET / HTTP/1.1\r\nHost: a\r\nX-Any: \"\xc3\xa4\"; a=b\r\nCookie: x\r\n\r\n");
  accepted("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n");
  accepted("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n");
  accepted("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted("OPTIONS /x HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted("GET / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n", "417 Expectation Failed");
  accepted("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
}

TEST_F(HttpRequests, WithMistakesAreRefused) {
  const std::string bad = "400 Bad Request";
  refused("GET / HTTP/1.1\nHost: a\n\n", bad);
  refused("GET / HTTP/1.1\r\nHost: a\n\r\n", bad);
  refused("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", bad);
  refused("GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n\tb\r\n\r\n", bad);
  refused("GET / HTTP/1.1\r\n Host: a\r\n\r\n", bad);
  refused("GET / HTTP/1.1\r\nHost : a\r\n\r\n", bad);
  refused("GET / HTTP/1.1\r\nHost\r\n\r\n", bad);
  refused("GET / HTTP/1.1\r\n: a\r\n\r\n", bad);
  refused("GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", bad);
  refused("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"s, bad);
  refused("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"s, bad);
  refused("GET / HTTP/1.1\r\n\r\n", bad);                        // no host
  refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", bad);  // two
  for (const char* host : {"a b", "u@a", "a,b", "a/", "a?", "a\\b", "a<b>", "\"a\"", "a:b", "a:1:2", "a:80x",
                           ":80", "[::1", "[]", "[::1]a", "[a/b]", "::1", "\xc3\xa4"})
    refused(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host), bad);
  refused("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", bad);
  refused("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", bad);
  refused("GET /\r\nHost: a\r\n\r\n", bad);
  refused("GET / FTP/1.1\r\nHost: a\r\n\r\n", bad);
  refused("GET / HTTP/1,1\r\nHost: a\r\n\r\n", bad);
  refused("GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", bad);
  refused("GET * HTTP/1.1\r\nHost: a\r\n\r\n", bad);
  refused("GET index.html HTTP/1.1\r\nHost: a\r\n\r\n", bad);
  refused("GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n", bad);
  for (const char* authority : {":80", "u@a", "u:p@a", "a:b", "[::1"})
    refused(fmt::format("GET http://{}/ HTTP/1.1\r\nHost: a\r\n\r\n", authority), bad);
  refused("GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n", bad);
  refused("\x16\x03\x01\x02", bad);  // TLS, at its first byte
  refused("{\"a\": 1}", bad);
  refused("GET / HTTP/2.0\r\nHost: a\r\n\r\n", "505 HTTP Version Not Supported");
  refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 HTTP Version Not Supported");
}

// What two servers may read differently: one request to the one, and two to the other.
TEST_F(HttpRequests, ThatCouldHideOthersAreRefused) {
  const std::string bad = "400 Bad Request";
  const auto with = [](const std::string& fields, const std::string& version = "1.1") {
    return "GET / HTTP/" + version + "\r\nHost: a\r\n" + fields + "\r\n";
  };
  refused(with("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"), bad);
  refused(with("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"), bad);
  refused(with("Transfer-Encoding: x\r\nContent-Length: 0\r\n"), bad);
  refused(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), bad);
  refused(with("Content-Length: 4\r\nContent-Length: 5\r\n"), bad);
  refused(with("Content-Length: 4, 5\r\n"), bad);
  for (const char* length : {"", "-1", "+1", "0x1", "1 2", "99999999999999999999", "a"})
    refused(with(fmt::format("Content-Length: {}\r\n", length)), bad);
  refused(with("Transfer-Encoding: chunked\r\n", "1.0"), bad);
  refused(with("Transfer-Encoding: chunked, identity\r\n"), "501 Not Implemented");
  refused(with("Transfer-Encoding: xchunked\r\n"), "501 Not Implemented");
  refused(with("Transfer-Encoding: chunked\r\n"), "413 Content Too Large");
  refused(with("Transfer-Encoding: gzip, chunked\r\n"), "413 Content Too Large");
  refused(with("Content-Length: 1\r\n"), "413 Content Too Large");
  refused(with("Content-Length: 18446744073709551615\r\n"), "413 Content Too Large");
  refused(with("Content-Length: 4\r\nExpect: 100-continue\r\n"), "413 Content Too Large");
}

TEST_F(HttpRequests, OfOtherMethodsAreToldWhatIsAllowed) {
  for (const char* method : {"POST", "PUT", "DELETE", "TRACE", "PATCH", "get", "BREW"}) {
    again();
    const Reply reply = get("/", "", method);
    EXPECT_EQ(reply.status, "HTTP/1.1 405 Method Not Allowed");
    EXPECT_EQ(reply.fields.at("Allow"), "GET, HEAD, OPTIONS");
    EXPECT_FALSE(session().finished());
  }
  EXPECT_EQ(get("example.org:80", "", "CONNECT").status, "HTTP/1.1 405 Method Not Allowed");
  again();
  std::string heard =
      say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(take_reply(heard).fields.at("Connection"), "close") << "its body is not read";
  EXPECT_EQ(heard, "");
  EXPECT_TRUE(session().finished());
}

TEST_F(HttpRequests, HaveLimits) {
  const auto with_target = [](std::size_t size) {
    return "GET /" + std::string(size - 1, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  accepted(with_target(kLongestTarget), "404 Not Found");
  refused(with_target(kLongestTarget + 1), "414 URI Too Long");
  refused(with_target(100'000), "414 URI Too Long");
  refused("GET /" + std::string(3000, 'x'), "414 URI Too Long");  // before its end
  const std::string line = "GET / HTTP/1.1\r\nHost: a\r\n";
  const auto with_field = [&](std::size_t size) {
    return line + "X: " + std::string(size - line.size() - 7, 'x') + "\r\n\r\n";
  };
  accepted(with_field(kLargestHead));
  refused(with_field(kLargestHead + 1), "431 Request Header Fields Too Large");
  refused(with_field(kLargestHead * 9), "431 Request Header Fields Too Large");
  std::string fields;
  for (std::size_t i = 1; i < kMostFields; ++i) fields += "X: y\r\n";
  accepted(line + fields + "\r\n");
  refused(line + fields + "X: y\r\n\r\n", "431 Request Header Fields Too Large");
}

TEST_F(HttpRequests, AreTheSameHoweverTheyAreCut) {
  const std::string stream =
      "\r\nGET /nothing HTTP/1.1\r\nHost: a\r\n\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n" +
      std::string(kGet) + "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n";
  const std::string whole = say(stream);
  EXPECT_TRUE(session().finished());
  for (std::size_t cut = 1; cut < stream.size(); ++cut) {
    again();
    const std::string first = say(std::string_view(stream).substr(0, cut));
    EXPECT_EQ(first + say(std::string_view(stream).substr(cut)), whole) << cut;
  }
  again();
  std::string bytewise;
  for (const char c : stream) bytewise += say({&c, 1});
  EXPECT_EQ(bytewise, whole);
}

TEST_F(HttpRequests, OfTheHotPathAllocateNothing) {
  std::string ten;
  for (int i = 0; i < 10; ++i) ten += kGet;
  const auto turn = [&] {
    session().on_bytes(as_bytes(ten), now_);
    std::array<Segment, 4> segments;
    while (session().output(segments) > 0) {
      const std::size_t n = segments[0].bytes.size();
      session().consumed(n);
      session().released(n);
    }
  };
  turn();  // takes its blocks
  const std::size_t before = allocations();
  for (int i = 0; i < 100; ++i) turn();
  EXPECT_EQ(allocations(), before);
  // And where a head comes in two parts.
  const auto parts = [&] {
    for (const std::string_view part : {kGet.substr(0, 10), kGet.substr(10)})
      session().on_bytes(as_bytes(part), now_);
    std::array<Segment, 4> segments;
    while (session().output(segments) > 0) {
      const std::size_t n = segments[0].bytes.size();
      session().consumed(n);
      session().released(n);
    }
  };
  parts();
  const std::size_t first = allocations();
  for (int i = 0; i < 100; ++i) parts();
  EXPECT_EQ(allocations(), first);
}

TEST_F(HttpRequests, DoNotFillMemory) {
  const std::string endless = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(1 << 20, 'x');
  largest_allocation_since();
  for (std::size_t at = 0; at < endless.size(); at += 1000) say(std::string_view(endless).substr(at, 1000));
  EXPECT_TRUE(session().finished());
  EXPECT_LT(largest_allocation_since(), 64U << 10);
}

}  // namespace
}  // namespace joust::http::test
