// SPDX-License-Identifier: MIT
//
// TLS against a network that listens, changes and cuts.
#include <gtest/gtest.h>

#include <random>

#include "secure/guard.hpp"
#include "secure/talking.hpp"

namespace joust {
namespace {

constexpr Time kNow{std::chrono::hours(1)};

// A client and a server, and a network between them that may do anything.
class TlsTest : public testing::Test {
 protected:
  void begin() {
    server_session_ = server_->open({});
    client_session_ = client_->open({});
    server_session_->on_open(kNow);
    client_session_->on_open(kNow);
  }

  static std::string taken_from(Session& session) {
    std::array<Segment, 8> shown;
    std::string bytes;
    for (std::size_t count; (count = session.output(shown)) > 0;)
      for (std::size_t i = 0; i < count; ++i) {
        bytes += as_text(shown[i].bytes);
        session.consumed(shown[i].size());
        session.released(shown[i].size());
        if (bytes.size() > 8 << 20) return bytes;
      }
    return bytes;
  }
  void give(Session& session, const std::string& bytes) {
    for (Bytes rest = as_bytes(bytes); !rest.empty() && session.want() == Want::bytes;)
      rest = rest.subspan(session.on_bytes(rest, kNow));
  }
  // One way, and the other; `to_server` is everything that the client has sent so far.
  bool shuttle() {
    const std::string there = taken_from(*client_session_);
    to_server_ += there;
    give(*server_session_, there);
    const std::string back = taken_from(*server_session_);
    to_client_ += back;
    give(*client_session_, back);
    return !there.empty() || !back.empty();
  }

  const Token token_ = Token::make();
  Talk server{.stays = true}, client{.stays = true};
  TalkingService talking_server_{server}, talking_client_{client};
  std::unique_ptr<Service> server_ = inside_tls(talking_server_, GuardSide::server, token_);
  std::unique_ptr<Service> client_ = inside_tls(talking_client_, GuardSide::client, token_);
  std::unique_ptr<Session> server_session_, client_session_;
  std::string to_server_, to_client_;
};

const std::string kSecret = "the quick brown fox jumps over the lazy dog";

TEST_F(TlsTest, NothingOnTheWireIsReadable) {
  server.says = client.says = kSecret;
  begin();
  while (shuttle()) {
  }
  EXPECT_EQ(server.heard, kSecret) << server_session_->complaint();
  EXPECT_EQ(client.heard, kSecret) << client_session_->complaint();
  for (const std::string& wire : {to_server_, to_client_}) {
    EXPECT_EQ(wire.find(kSecret.substr(0, 8)), std::string::npos);
    EXPECT_EQ(wire.find(token_.text()), std::string::npos);
  }
}

TEST_F(TlsTest, AStreamThatIsCutFails) {
  client.says = kSecret;
  begin();
  while (shuttle()) {
  }
  server_session_->on_peer_finished(kNow);  // the network's word, not the peer's
  EXPECT_EQ(server.failures, 1U);
  EXPECT_FALSE(server.peer_finished);
  EXPECT_NE(server_session_->complaint().find("cut"), std::string_view::npos);
}

TEST_F(TlsTest, AFlippedBitIsNeverDelivered) {
  client.says = kSecret;
  begin();
  while (shuttle()) {
  }
  const std::size_t whole = to_server_.size();
  std::mt19937 random(5);
  int kept_out = 0;
  for (int round = 0; round < 400; ++round) {
    server = {.stays = true};
    client = {.says = kSecret, .stays = true};
    begin();
    const std::size_t place = random() % whole;
    for (std::size_t sent = 0, turn = 0; turn < 8; ++turn) {
      std::string there = taken_from(*client_session_);
      if (place >= sent && place < sent + there.size())
        there[place - sent] = static_cast<char>(there[place - sent] ^ (1 << (random() % 8)));
      sent += there.size();
      give(*server_session_, there);
      give(*client_session_, taken_from(*server_session_));
    }
    // A few bits mean nothing: the version in a record's head.
    EXPECT_TRUE(server.heard.empty() || server.heard == kSecret) << "bit at byte " << place;
    kept_out += server.heard.empty();
  }
  EXPECT_GT(kept_out, 380);
}

TEST_F(TlsTest, BytesBehindTheCloseDoNotCount) {
  client = {.says = kSecret};
  begin();
  while (shuttle()) {
  }
  EXPECT_TRUE(server.peer_finished);
  EXPECT_EQ(server_session_->on_bytes(as_bytes("more"), kNow), 4U);
  server_session_->on_peer_finished(kNow);
  EXPECT_EQ(server.failures, 0U);
  EXPECT_EQ(server.heard, kSecret);
}

TEST_F(TlsTest, AnAlertTellsTheOtherSide) {
  begin();
  give(*server_session_, std::string("\x16\x03\x01\x00\x05hello", 10));  // a record that says nothing
  EXPECT_TRUE(server_session_->finished());
  EXPECT_NE(taken_from(*server_session_), "");
}

TEST_F(TlsTest, AFailureIsToldOnce) {
  begin();
  while (shuttle()) {
  }
  server_session_->on_peer_finished(kNow);
  server_session_->on_failure({Stage::send, 32, {}}, kNow);
  EXPECT_EQ(server.failures, 1U);
}

}  // namespace
}  // namespace joust
