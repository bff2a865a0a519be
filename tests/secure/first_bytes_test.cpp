// SPDX-License-Identifier: MIT
//
// The first bytes of a connection, cut at every place: what becomes of it does not depend on that.
#include <gtest/gtest.h>

#include <array>

#include "secure/guard.hpp"
#include "secure/talking.hpp"
#include "session/pair.hpp"

namespace joust {
namespace {

using namespace std::string_literals;

constexpr Time kBegin{std::chrono::hours(1)};
constexpr std::size_t kSingly = 0;  // a cut: each byte by itself

const Token& token() {
  static const Token made = Token::make();
  return made;
}

const std::string kHttpRequest = "GET /file HTTP/1.1\r\nHost: there\r\n\r\n";
const std::string kHttpAnswer =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const std::string kAlert("\x15\x03\x03\x00\x02\x02\x0a", 7);
const std::string kPlainRequest("\x02\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x05there", 20);
const std::string kPlainAnswer("\x02\x22\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x0b\x00\x00", 16);

// Nothing of it is what a protocol begins with.
std::string noise() {
  std::string text = "\xd3";
  for (unsigned i = 1; i < 90; ++i) text += static_cast<char>(i * 71 + text.back() * 5);
  return text;
}

std::string shown(const Session& session) {
  std::array<Segment, 16> segments;
  std::string text;
  for (const Segment& segment : std::span(segments).first(session.output(segments)))
    text += as_text(segment.bytes);
  return text;
}

// How TLS takes what a stranger says: its words, and what it answers.
struct Outcome {
  std::string complaint, answer;
  Stage stage{};
  bool is_over = false;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome(GuardSide side, const std::string& says, std::size_t cut) {
  Talk talk;
  TalkingService service(talk);
  const auto guarded = inside_tls(service, side, token());
  const auto session = guarded->open({});
  session->on_open(kBegin);
  const std::string before = shown(*session);
  Bytes rest = as_bytes(says);
  for (std::size_t next = cut == kSingly ? 1 : cut; !rest.empty();) {
    const Bytes part = rest.first(std::min(rest.size(), next));
    EXPECT_EQ(session->on_bytes(part, kBegin), part.size()) << "nobody holds back what is not wanted";
    rest = rest.subspan(part.size());
    next = cut == kSingly ? 1 : rest.size();
  }
  session->on_peer_finished(kBegin);
  EXPECT_EQ(talk.opened, 0U);
  const std::string answer = shown(*session).substr(side == GuardSide::client ? before.size() : 0);
  return {std::string(session->complaint()), answer, talk.stage, session->finished()};
}

struct Case {
  const char* name;
  GuardSide side;
  std::string says;
  const char* words;        // of the complaint
  std::string answer = "";  // begins with this
};

std::vector<Case> strangers() {
  constexpr auto kServer = GuardSide::server, kClient = GuardSide::client;
  const char* const no_greeting = "no greeting of this program";
  const char* const no_tls = "does not speak TLS: was it started with a token?";
  return {
      {"HTTP to TLS", kServer, kHttpRequest, no_greeting, kAlert},
      {"plain to TLS", kServer, kPlainRequest, no_greeting, kAlert},
      {"noise to TLS", kServer, noise(), no_greeting, kAlert},
      {"a record to TLS", kServer, "\x16\x03\x01\x00\xff"s + noise(), no_greeting, kAlert},
      {"TLS and HTTP", kClient, kHttpAnswer, no_tls},
      {"TLS and plain", kClient, kPlainAnswer, no_tls},
      {"TLS and its alert", kClient, kAlert, "the server refuses the token"},
      {"TLS and a greeter", kClient, "jabber: who is there?\n", no_tls},
      {"TLS and noise", kClient, noise(), no_tls},
  };
}

TEST(FirstBytes, OfAStrangerGetTheSameAnswerHoweverTheyAreCut) {
  for (const Case& stranger : strangers()) {
    const auto how = [&](std::size_t cut) { return outcome(stranger.side, stranger.says, cut); };
    const Outcome whole = how(stranger.says.size());
    EXPECT_NE(whole.complaint.find(stranger.words), std::string::npos)
        << stranger.name << ": " << whole.complaint;
    EXPECT_TRUE(whole.answer.starts_with(stranger.answer)) << stranger.name;
    EXPECT_TRUE(whole.is_over) << stranger.name;
    EXPECT_EQ(whole.stage, Stage::verify) << stranger.name << ": another attempt would fail in the same way";
    for (std::size_t cut = 0; cut < stranger.says.size(); ++cut) {
      const Outcome now = how(cut);
      EXPECT_TRUE(now == whole) << stranger.name << ", cut at " << cut << ": " << now.complaint;
    }
  }
}

// So many bytes of all that travel come in two parts.
Pair::Cut cut_at(std::size_t place) {
  return [left = place](std::size_t available) mutable {
    const std::size_t part = left == 0 ? available : std::min(left, available);
    left -= std::min(left, part);
    return part;
  };
}

TEST(FirstBytes, OfAFriendAreUnderstoodHoweverTheyAreCut) {
  constexpr std::size_t kHandshakes = 1200;  // bytes of the longest one
  for (std::size_t place = 0; place < kHandshakes; ++place) {
    Talk server{.says = "to the client"}, client{.says = "to the server"};
    TalkingService talking_server(server), talking_client(client);
    const auto serving = inside_tls(talking_server, GuardSide::server, token());
    const auto asking = inside_tls(talking_client, GuardSide::client, token());
    Pair both(asking->open({}), serving->open({}), place == kSingly ? Pair::single : cut_at(place));
    both.settle();
    EXPECT_EQ(server.heard + client.heard, client.says + server.says) << "cut at " << place;
    EXPECT_EQ(server.failure + client.failure, "") << "cut at " << place;
  }
}

}  // namespace
}  // namespace joust
