// SPDX-License-Identifier: MIT
//
// TLS against a network that listens, changes and cuts.
#include <gtest/gtest.h>

#include <random>

#include "secure/guard.hpp"
#include "secure/talking.hpp"
#include "secure/tls_context.hpp"

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

// Of the sides' settings: a client is told what to look at.
TEST_F(TlsTest, AClientSaysWhatAServerWithOtherSettingsLacks) {
  begin();
  give(*client_session_, "HTTP/1.1 400 Bad Request\r\n");
  EXPECT_EQ(client_session_->complaint(), "the server does not speak TLS: was it started with a token?");
  EXPECT_EQ(client.stage, Stage::verify);
}

// A server that is full closes connections, and so does one that ends: that is worth another attempt.
TEST_F(TlsTest, AServerThatClosesIsNoRefusal) {
  begin();
  client_session_->on_peer_finished(kNow);
  EXPECT_EQ(client_session_->complaint(), "TLS: the server closed the connection while shaking hands");
  EXPECT_EQ(client.stage, Stage::receive);
  server_session_->on_peer_finished(kNow);
  EXPECT_EQ(server_session_->complaint(), "TLS: the peer left while shaking hands");
}

TEST_F(TlsTest, ARefusedTokenIsSaidInPlainWords) {
  client_ = inside_tls(talking_client_, GuardSide::client, Token::make());
  begin();
  while (shuttle()) {
  }
  // The alert depends on the version of OpenSSL.
  const std::string plain = "the server refuses the token: have both sides the same? (TLS alert: ";
  EXPECT_TRUE(client.failure == plain + "illegal parameter)" || client.failure == plain + "decrypt error)")
      << client.failure;
  EXPECT_EQ(client.stage, Stage::verify);
}

// The library would take memory for a message as soon as its head says how long it is.
TEST_F(TlsTest, ALongGreetingIsRefusedAtItsHead) {
  const auto greet = [this](const std::string& bytes, std::size_t piece) {
    server = {.stays = true};
    begin();
    for (std::size_t at = 0; at < bytes.size(); at += piece) give(*server_session_, bytes.substr(at, piece));
    return server_session_->finished();
  };
  const std::string type("\x16\x03\x01", 3);
  const std::string longest = type + std::string("\x10\x04\x01\x00\x10\x00", 6);
  const std::string longer = type + std::string("\x10\x05\x01\x00\x10\x01", 6);
  const std::string longest_of_all = type + std::string("\x00\x04\x01\x02\x01\x44", 6);
  const std::string in_two_records =
      type + std::string("\x00\x02\x01\x00", 4) + type + std::string("\x00\x02\x10\x00", 4);
  const std::string another_first("\x14\x03\x03\x00\x01\x01", 6);
  for (const std::size_t piece : {1U, 4U, 100U}) {
    EXPECT_FALSE(greet(longest, piece)) << "it may come";
    for (const std::string& refused : {longer, longest_of_all, in_two_records, another_first}) {
      EXPECT_TRUE(greet(refused, piece));
      EXPECT_EQ(server.not_opened, 1U);
      EXPECT_NE(server.failure.find("no greeting of this program"), std::string::npos) << server.failure;
    }
  }
}

TEST_F(TlsTest, AnotherGreetingMayNotBeLongEither) {
  begin();
  give(*server_session_, taken_from(*client_session_));
  EXPECT_FALSE(server_session_->finished());
  give(*server_session_, std::string("\x16\x03\x03\x00\x04\x01\x02\x01\x44", 9));
  EXPECT_TRUE(server_session_->finished());
  EXPECT_EQ(server.not_opened, 1U);
}

TEST_F(TlsTest, AGreetingComesHoweverItIsCut) {
  client.says = kSecret;
  begin();
  for (int turn = 0; turn < 8; ++turn) {
    for (const char c : taken_from(*client_session_)) give(*server_session_, {c});
    give(*client_session_, taken_from(*server_session_));
  }
  EXPECT_EQ(server.heard, kSecret) << server_session_->complaint();
}

// A peer that knows the token, and wants an answer to each of its key updates and reads none.
TEST_F(TlsTest, KeyUpdatesWaitUntilTheirAnswersAreRead) {
  begin();
  const TlsContext context(GuardSide::client, token_);
  const auto peer = context.open();
  ::SSL_set_bio(peer.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
  const auto said = [&] {
    std::string bytes(::BIO_ctrl_pending(::SSL_get_wbio(peer.get())), '\0');
    ::BIO_read(::SSL_get_wbio(peer.get()), bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  };
  while (::SSL_do_handshake(peer.get()) != 1) {
    give(*server_session_, said());
    const std::string answer = taken_from(*server_session_);
    ASSERT_FALSE(answer.empty());
    ::BIO_write(::SSL_get_rbio(peer.get()), answer.data(), static_cast<int>(answer.size()));
  }
  give(*server_session_, said());
  ASSERT_EQ(server.opened, 1U);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(::SSL_key_update(peer.get(), SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_EQ(::SSL_do_handshake(peer.get()), 1);
  }
  const std::string updates = said();
  const std::size_t taken = server_session_->on_bytes(as_bytes(updates), kNow);
  EXPECT_LT(taken, updates.size());
  EXPECT_EQ(server_session_->want(), Want::nothing);
  Bytes rest = as_bytes(updates).subspan(taken);
  for (int turn = 0; turn < 10 && !rest.empty(); ++turn) {
    EXPECT_LT(taken_from(*server_session_).size(), 300U << 10);
    rest = rest.subspan(server_session_->on_bytes(rest, kNow));
  }
  EXPECT_TRUE(rest.empty());
  EXPECT_FALSE(server_session_->finished()) << server_session_->complaint();
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
