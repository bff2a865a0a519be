// SPDX-License-Identifier: MIT
//
// Peers of the file server that send or read next to nothing, and those that are only slow.
#include <functional>

#include "files/protocol/server_fixture.hpp"

namespace joust::file {
namespace {

using std::chrono::seconds;
using test::Decoded;
using test::wire;

// One peer under virtual time.
class TimedPeer {
 public:
  explicit TimedPeer(ServerState& server) : session_(std::make_unique<ServerSession>(server)) {
    session_->on_open(now_);
  }

  ServerSession& session() { return *session_; }
  bool ended() const { return session_->finished() || session_->gives_up(); }

  std::size_t say(std::string_view bytes) { return deliver(as_bytes(bytes), *session_, now_); }
  void pass(Duration time) {
    const Time until = now_ + time;
    for (int i = 0; i < 1000; ++i) {
      const auto due = session_->deadline();
      if (!due || *due > until) {
        now_ = until;
        return;
      }
      now_ = std::max(now_, *due);
      session_->on_deadline(now_);
    }
    ADD_FAILURE() << "a deadline that stays in the past";
  }
  void pass_until_ended(Duration step, const std::function<void()>& act) {
    for (int i = 0; i < 100 && !ended(); ++i) {
      act();
      pass(step);
    }
  }
  // Reads at most so many bytes.
  std::string read(std::size_t most) {
    std::string got;
    Segment next;
    while (got.size() < most && session_->output({&next, 1}) > 0) {
      std::string piece(std::min<std::uint64_t>(next.size(), most - got.size()), '\0');
      if (next.in_file())
        EXPECT_TRUE(next.file.file->read_at(next.file.offset, std::as_writable_bytes(std::span(piece))));
      else
        piece = as_text(next.bytes.first(piece.size()));
      session_->consumed(piece.size());
      session_->released(piece.size());
      got += piece;
    }
    return got;
  }
  Decoded read_all() { return test::decode_all(read(1 << 20)); }

 private:
  std::unique_ptr<ServerSession> session_;
  Time now_{std::chrono::hours(1)};
};

class FileRates : public test::FileServerTest {
 protected:
  FileRates() { storage({.most_uploads = 1}); }

  // Whether the only upload there may be is free.
  bool has_room() { return storage().upload({.name = "other", .size = 1, .id = 99}).has_value(); }
};

TEST_F(FileRates, ARequestThatComesByteByByteIsEnded) {
  TimedPeer peer(server());
  const std::string query = wire({1, Query{std::string(200, 'n'), false}});
  std::size_t said = 0;
  peer.pass_until_ended(seconds(9), [&] { said += peer.say(query.substr(said, 1)); });
  EXPECT_LT(said, 5U);
  EXPECT_EQ(peer.session().complaint(), "a request comes slower than 1.00 KiB/s for 10.0 s");
  EXPECT_EQ(server().too_slow, 1U);
}

TEST_F(FileRates, AnUploadThatComesByteByByteIsEndedAndItsPlaceIsFree) {
  TimedPeer peer(server());
  peer.say(upload_head("new", 1000, {0, 1000}) + wire({1, Data{1000}}));
  EXPECT_FALSE(has_room());
  peer.pass_until_ended(seconds(9), [&] { peer.say("x"); });
  EXPECT_EQ(peer.session().complaint(), "an upload comes slower than 1.00 KiB/s for 10.0 s");
  EXPECT_TRUE(has_room()) << "before the connection is closed";
  EXPECT_EQ(entries(), 2U);
  const Decoded heard = peer.read_all();
  ASSERT_EQ(heard.messages.size(), 1U);
  EXPECT_EQ(test::describe(heard.messages[0]),
            "1: error too slow 'an upload comes slower than 1.00 KiB/s for 10.0 s'");
}

TEST_F(FileRates, AnUploadOfManyEmptyFramesIsEnded) {
  TimedPeer peer(server());
  peer.say(upload_head("new", 1000, {0, 1000}));
  peer.pass_until_ended(seconds(1), [&] { peer.say(wire({1, Data{0}})); });
  EXPECT_TRUE(peer.ended());
  EXPECT_TRUE(has_room());
}

// One connection has sent a range and rests, another one has sent the rest and sealed.
TEST_F(FileRates, AConnectionIsNotToBlameForAnUploadThatIsComplete) {
  const std::string text(2000, 't');
  const auto range = [&](std::uint32_t request, std::uint64_t offset) {
    return wire({request, UploadRange{2000, {offset, 1000}, 9, std::nullopt, false, "new", true}}) +
           data(text.substr(0, 1000), request) + end(1000, request);
  };
  TimedPeer first(server()), second(server());
  second.say(wire({1, Offer{2000, 9, {.resumable = true}, "new"}}));
  first.say(range(1, 0));
  second.say(range(2, 1000) + wire({3, Seal{2000, 9, joust::test::digest_of(text), "new"}}));
  EXPECT_EQ(joust::test::text_of(path("new")), text);
  first.read_all();
  first.pass(seconds(200));
  EXPECT_FALSE(first.ended()) << first.session().complaint();
  EXPECT_EQ(server().too_slow, 0U);
}

TEST_F(FileRates, ASlowLineIsFastEnough) {
  const std::string text(100'000, 't');
  TimedPeer peer(server());
  peer.say(upload_head("new", text.size(), {0, text.size()}) + wire({1, Data{100'000}}));
  for (std::size_t at = 0; at < text.size(); at += 1200) {
    peer.pass(seconds(1));
    peer.say(text.substr(at, 1200));
  }
  peer.say(end(text.size()));
  ASSERT_FALSE(peer.ended()) << peer.session().complaint();
  EXPECT_TRUE(std::get<Stored>(peer.read_all().messages.at(0).body).complete);
}

TEST_F(FileRates, ADownloadThatIsReadByteByByteIsGivenUp) {
  std::ofstream(path("large")) << std::string(1 << 20, 'x');
  TimedPeer peer(server());
  peer.say(wire({1, Fragment{{0, 1 << 20}, "large"}}));
  peer.pass_until_ended(seconds(9), [&] { peer.read(1); });
  EXPECT_TRUE(peer.session().gives_up());
  EXPECT_EQ(peer.session().complaint(), "an answer is read slower than 1.00 KiB/s for 60.0 s");
}

TEST_F(FileRates, ADownloadOverASlowLineGoesOn) {
  std::ofstream(path("large")) << std::string(200'000, 'x');
  TimedPeer peer(server());
  peer.say(wire({1, Fragment{{0, 200'000}, "large"}}));
  std::size_t read = 0;
  while (read < 200'000 && !peer.ended()) {  // in bursts, as a socket with a large buffer takes them
    read += peer.read(40'000).size();
    peer.pass(seconds(30));
  }
  EXPECT_FALSE(peer.ended()) << peer.session().complaint();
}

// Its own range has come, and nobody sends the rest.
TEST_F(FileRates, AnUploadThatNobodyGoesOnWithIsEnded) {
  TimedPeer peer(server());
  peer.say(upload_head("new", 6, {0, 3}) + data("abc") + end(3));
  EXPECT_FALSE(has_room());
  peer.pass(seconds(50));
  EXPECT_FALSE(peer.ended());
  peer.pass_until_ended(seconds(20), [&] { peer.say(wire({9, Query{"old", false}})), peer.read(1000); });
  EXPECT_EQ(peer.session().complaint(), "an incomplete upload grows slower than 1.00 KiB/s for 60.0 s");
  EXPECT_TRUE(has_room());
}

// The sender has given it up, and has no word for that.
TEST_F(FileRates, AnOfferThatIsGivenUpIsForgottenWhileOtherFilesCome) {
  storage_.reset();
  storage({.most_uploads = 2});
  const std::string text(100'000, 't');
  TimedPeer peer(server());
  peer.say(wire({1, Offer{2000, 9, {.resumable = true}, "given up"}}));
  peer.read_all();
  peer.pass(seconds(55));
  peer.say(upload_head("new", text.size(), {0, text.size()}, 2) + wire({2, Data{100'000}}));
  EXPECT_FALSE(has_room());
  for (std::size_t at = 0; at < text.size(); at += 10'000) {
    peer.say(text.substr(at, 10'000));
    peer.pass(seconds(1));
  }
  EXPECT_FALSE(peer.ended()) << peer.session().complaint();
  EXPECT_TRUE(has_room()) << "the file that was given up has no place any more";
  peer.say(end(text.size(), 2));
  EXPECT_TRUE(joust::test::text_of(path("new")) == text);
  EXPECT_EQ(server().too_slow, 0U);
}

// Between two files, too.
TEST_F(FileRates, AnOfferThatIsGivenUpIsForgottenAfterAnotherFile) {
  TimedPeer peer(server());
  peer.say(wire({1, Offer{2000, 9, {.resumable = true}, "given up"}}));
  peer.pass(seconds(30));
  peer.say(wire({2, Fragment{{0, 3}, "old"}}));
  peer.read_all();
  peer.pass(seconds(40));
  EXPECT_FALSE(peer.ended()) << peer.session().complaint();
  EXPECT_TRUE(has_room());
  peer.say(wire({3, Offer{2000, 10, {.resumable = true}, "given up"}}));
  peer.read_all();
  EXPECT_FALSE(has_room()) << "it is offered again";
  peer.pass(seconds(70));
  EXPECT_EQ(peer.session().complaint(), "an incomplete upload grows slower than 1.00 KiB/s for 60.0 s")
      << "nothing else came";
}

// The sender reads it from a slow disk before it can seal it.
TEST_F(FileRates, AnUploadThatIsThereWaitsForItsSendersDigest) {
  const std::string text(4'000'000, 't');
  const FileWishes wishes{.resumable = true};
  for (const bool grows : {false, true}) {
    TimedPeer peer(server());
    peer.say(wire({1, Offer{text.size(), 9, wishes, "slow"}}));
    peer.say(wire({2, UploadRange{text.size(), {0, text.size()}, 9, {}, false, "slow", true}}) +
             data(text, 2) + end(text.size(), 2));
    peer.pass_until_ended(seconds(5), [&, done = 0U]() mutable {
      peer.read_all();
      if (grows) done += 40'000;
      peer.say(wire({3, Working{done}}));
    });
    EXPECT_EQ(peer.ended(), !grows) << peer.session().complaint();
    EXPECT_EQ(has_room(), !grows);
    if (grows) peer.say(wire({3, Seal{text.size(), 9, joust::test::digest_of(text), "slow"}}));
  }
  EXPECT_TRUE(joust::test::text_of(path("slow")) == text);
}

TEST_F(FileRates, WhoHasSentARangeMayWaitForTheOthers) {
  TimedPeer first(server()), other(server());
  constexpr std::uint64_t kRest = 10 << 20;
  first.say(upload_head("new", 3 + kRest, {0, 3}) + data("abc") + end(3));
  other.say(upload_head("new", 3 + kRest, {3, kRest}));
  first.read(1000);
  for (std::uint64_t i = 0; i < 10; ++i) {
    other.say(data(std::string(1 << 20, 'd')));
    first.pass(seconds(30));
    EXPECT_FALSE(first.ended()) << first.session().complaint();
  }
}

// The refusal waits for the peer to read it: until then the server does not read the rest of the upload.
TEST_F(FileRates, TimeInWhichTheServerDoesNotReadIsNotThePeers) {
  TimedPeer peer(server());
  const std::size_t answer = wire({1, Error{{FileError::not_found, ""}}}).size();
  for (std::size_t waiting = 0; waiting < 64 << 10; waiting += answer)
    peer.say(wire({1, Query{"nothing", false}}));
  peer.say(upload_head("old", 6, {0, 6}));
  ASSERT_EQ(peer.session().want(), Want::nothing);
  peer.pass(seconds(50));
  EXPECT_FALSE(peer.ended()) << peer.session().complaint();
}

TEST_F(FileRates, ARateOfNothingIsNeverMissed) {
  server().rates = RateRules::of(0);
  TimedPeer peer(server());
  peer.say(upload_head("new", 1000, {0, 1000}) + wire({1, Data{1000}}));
  EXPECT_FALSE(peer.session().deadline());
}

}  // namespace
}  // namespace joust::file
