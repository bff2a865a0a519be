// SPDX-License-Identifier: MIT
#include <cerrno>
#include <filesystem>

#include "failing_calls.hpp"
#include "files/protocol/server_fixture.hpp"
#include "files/store/hostile_names.hpp"

namespace joust::file {
namespace {

namespace fs = std::filesystem;
using joust::test::digest_of;
using joust::test::text_of;
using test::Decoded;
using test::describe;
using test::wire;

class FileServer : public test::FileServerTest {};

TEST_F(FileServer, TellsWhatItKnowsOfAFile) {
  storage(joust::test::kOldFiles);
  const Decoded heard = ask(wire({5, Query{"old", false}}) + wire({6, Query{"old", true}}) +
                            wire({7, Query{"old", false}}) + wire({8, Query{"nothing", false}}));
  ASSERT_EQ(heard.messages.size(), 4U);
  const auto& plain = std::get<Facts>(heard.messages[0].body);
  EXPECT_EQ(heard.messages[0].request, 5U);
  EXPECT_EQ(plain.size, 3U);
  EXPECT_FALSE(plain.digest);
  EXPECT_EQ(std::get<Facts>(heard.messages[1].body).digest, digest_of("old"));
  EXPECT_EQ(std::get<Facts>(heard.messages[2].body).digest, digest_of("old")) << "it is known now";
  EXPECT_EQ(describe(heard.messages[3]), "8: error not found ''");
}

// Whoever asks so wants to rely on it.
TEST_F(FileServer, TellsOfAFileThatTheDiskHas) {
  storage(joust::test::kOldFiles);
  for (const bool wants_digest : {true, false}) {
    // Another file: one that the disk has failed to take stays refused.
    const std::string text = wants_digest ? "digested" : "plain";
    std::ofstream(path("old")) << text;
    const std::string query = wire({1, Query{"sub/../old", wants_digest, true}}) +
                              wire({2, Query{"old", wants_digest, true}}) + wire({3, Query{"old", true}});
    const Decoded heard = ask(query);
    ASSERT_EQ(heard.messages.size(), 3U) << heard.text();
    EXPECT_EQ(std::get<Facts>(heard.messages[1].body).size, text.size());
    EXPECT_EQ(heard.messages[2].request, 3U);
    const joust::test::Failing failing(joust::test::Call::fsync, EIO);
    EXPECT_EQ(error_of(wire({2, Query{"old", wants_digest, true}})), "input/output error");
    EXPECT_EQ(failing.failed(), 1U);
  }
  server().takes = false;
  EXPECT_EQ(error_of(wire({1, Query{"old", false, true}})), "not permitted");
}

TEST_F(FileServer, SendsARangeOfAFile) {
  std::ofstream(path("text")) << "0123456789";
  const Decoded heard = ask(wire({1, Fragment{{2, 5}, "text"}}) + wire({2, Fragment{{10, 0}, "text"}}) +
                            wire({3, Fragment{{0, 10}, "text"}}));
  EXPECT_EQ(heard.data, "234560123456789");
  ASSERT_EQ(heard.messages.size(), 8U);
  EXPECT_EQ(std::get<Facts>(heard.messages[0].body).size, 10U);
  EXPECT_EQ(describe(heard.messages[1]), "1: data 5");
  EXPECT_EQ(describe(heard.messages[2]), "1: end 5 -");
  EXPECT_EQ(describe(heard.messages[4]), "2: end 0 -");
}

// A range of 8 MiB is put into the output at once.
TEST_F(FileServer, CountsWhatAPeerHasTakenAndNotWhatWaitsForIt) {
  std::ofstream(path("large")) << std::string(1 << 20, 'x');
  {
    ServerSession session(server());
    const std::string says = wire({1, Fragment{{0, 1 << 20}, "large"}});
    EXPECT_EQ(session.on_bytes(joust::as_bytes(says), Time{}), says.size());
    std::array<Segment, 3> output;  // the facts, the head of the data, and the data
    ASSERT_EQ(session.output(output), 3U);
    session.consumed(output[0].size() + output[1].size() + 1000);
  }
  EXPECT_EQ(server().bytes_sent, 1000U);
  EXPECT_EQ(server().abandoned, 1U);
}

TEST_F(FileServer, SendsTheDigestOfAWholeFileWhereItIsKnown) {
  storage(joust::test::kOldFiles);
  const Decoded heard = ask(wire({1, Query{"old", true}}) + wire({2, Fragment{{0, 3}, "old"}}) +
                            wire({3, Fragment{{0, 2}, "old"}}));
  EXPECT_EQ(std::get<End>(heard.messages[3].body).digest, digest_of("old"));
  EXPECT_FALSE(std::get<End>(heard.messages[6].body).digest);
}

TEST_F(FileServer, SendsASmallFileWithItsDigest) {
  storage(joust::test::kOldFiles);
  const std::string text(kSentWithDigest, 'x');
  std::ofstream(path("small")) << text;
  std::ofstream(path("larger")) << text << '.';
  const Decoded heard = ask(wire({1, Fragment{{0, text.size()}, "small"}}) +
                            wire({2, Fragment{{0, text.size() + 1}, "larger"}}) +
                            wire({3, Fragment{{0, 2}, "old"}}) + wire({4, Fragment{{0, 3}, "old"}}));
  EXPECT_TRUE(heard.data == text + text + ".ol" + "old");
  ASSERT_EQ(heard.messages.size(), 12U);
  EXPECT_EQ(std::get<Facts>(heard.messages[0].body).digest, digest_of(text));
  EXPECT_EQ(std::get<End>(heard.messages[2].body).digest, digest_of(text));
  EXPECT_FALSE(std::get<End>(heard.messages[5].body).digest) << "it may be moved by the kernel";
  EXPECT_FALSE(std::get<End>(heard.messages[8].body).digest) << "a part";
  EXPECT_EQ(std::get<Facts>(heard.messages[9].body).digest, digest_of("old"));
  EXPECT_EQ(server().bytes_sent, 2 * text.size() + 6);
}

// It may be changed again within the same time stamp, between two reads.
TEST_F(FileServer, SendsNoDigestOfAFileThatWasChangedJustNow) {
  const Decoded heard = ask(wire({1, Fragment{{0, 3}, "old"}}));
  EXPECT_EQ(heard.data, "old");
  EXPECT_FALSE(std::get<Facts>(heard.messages[0].body).digest);
  EXPECT_FALSE(std::get<End>(heard.messages[2].body).digest);
}

TEST_F(FileServer, RefusesAFragmentThatIsNotThere) {
  EXPECT_EQ(error_of(wire({1, Fragment{{0, 4}, "old"}})), "beyond the end");
  EXPECT_EQ(error_of(wire({1, Fragment{{3, 1}, "old"}})), "beyond the end");
  EXPECT_EQ(error_of(wire({1, Fragment{{UINT64_MAX, 0}, "old"}})), "beyond the end");
  EXPECT_EQ(error_of(wire({1, Fragment{{0, UINT64_MAX}, "old"}})), "beyond the end");
  EXPECT_EQ(error_of(wire({1, Fragment{{UINT64_MAX - 1, UINT64_MAX}, "old"}})), "malformed");
  EXPECT_EQ(error_of(wire({1, Fragment{{2, UINT64_MAX}, "old"}})), "malformed");
  EXPECT_EQ(error_of(wire({1, Fragment{{0, 0}, "sub"}})), "not a file");
}

TEST_F(FileServer, RefusesEveryHostileName) {
  for (const std::string& name : joust::test::hostile_names()) {
    const std::string expected = name.size() > kLargestBody - 100 ? "malformed" : "name refused";
    EXPECT_EQ(error_of(wire({1, Query{name, false}})), expected) << testing::PrintToString(name);
    EXPECT_EQ(error_of(wire({1, Fragment{{0, 1}, name}})), expected);
    EXPECT_EQ(error_of(upload(name, "text")), expected);
  }
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileServer, StoresAnUploadAndSaysItsDigest) {
  const Decoded heard = ask(upload("new", "written"));
  ASSERT_EQ(heard.messages.size(), 1U);
  const auto& stored = std::get<Stored>(heard.messages[0].body);
  EXPECT_TRUE(stored.complete);
  EXPECT_EQ(stored.digest, digest_of("written"));
  EXPECT_EQ(text_of(path("new")), "written");
  EXPECT_EQ(error_of(upload("new", "again")), "exists");
  EXPECT_EQ(text_of(path("new")), "written");
}

TEST_F(FileServer, StoresTheRangesOfAnUploadInAnyOrder) {
  const Decoded heard = ask(upload_head("new", 6, {3, 3}) + data("def") + end(3) +
                            upload_head("new", 6, {0, 3}, 2) + data("a", 2) + data("bc", 2) + end(3, 2));
  ASSERT_EQ(heard.messages.size(), 2U);
  EXPECT_EQ(describe(heard.messages[0]), "1: stored 3+3 false -");
  EXPECT_EQ(std::get<Stored>(heard.messages[1].body).digest, digest_of("abcdef"));
  EXPECT_EQ(text_of(path("new")), "abcdef");
  EXPECT_EQ(entries(), 3U);
}

// Each holds a file in the making.
TEST_F(FileServer, BoundsTheUploadsAConnectionLeavesIncomplete) {
  std::string says;
  for (std::uint32_t i = 1; i <= 20; ++i)
    says += upload_head("new", 6, {0, 3}, i, {}, i) + data("abc", i) + end(3, i);
  const Decoded heard = ask(says);
  ASSERT_EQ(heard.messages.size(), 20U);
  EXPECT_EQ(describe(heard.messages[7]), "8: stored 0+3 false -");
  EXPECT_TRUE(std::holds_alternative<Error>(heard.messages[8].body));
  EXPECT_EQ(entries(), 2U) << "and they go with it";
}

// The ranges of one upload belong together for as long as somebody holds it.
TEST_F(FileServer, SharesAnUploadAmongConnections) {
  auto held = storage().upload({.name = "new", .size = 6, .id = 1});
  EXPECT_EQ(describe(ask(upload_head("new", 6, {3, 3}) + data("def") + end(3)).messages.at(0)),
            "1: stored 3+3 false -");
  const auto last =
      std::get<Stored>(ask(upload_head("new", 6, {0, 3}) + data("abc") + end(3)).messages.at(0).body);
  EXPECT_TRUE(last.complete);
  EXPECT_EQ(last.digest, digest_of("abcdef"));
  EXPECT_EQ(text_of(path("new")), "abcdef");
}

TEST_F(FileServer, GoesOnAfterAnUploadItHasRefused) {
  const Decoded heard = ask(upload("old", "replaced?", 1) + upload("new", "written", 2));
  ASSERT_EQ(heard.messages.size(), 2U);
  EXPECT_EQ(describe(heard.messages[0]), "1: error exists ''");
  EXPECT_TRUE(std::get<Stored>(heard.messages[1].body).complete);
  EXPECT_EQ(text_of(path("old")), "old");
}

TEST_F(FileServer, KeepsNothingOfAnUploadThatEndsTooEarly) {
  const std::string whole = upload("new", "written");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Decoded heard = ask(whole.substr(0, size));
    EXPECT_TRUE(heard.messages.empty() || std::holds_alternative<Error>(heard.messages[0].body)) << size;
    EXPECT_EQ(entries(), 2U) << "cut off after " << size << " bytes";
  }
  EXPECT_EQ(error_of(upload_head("new", 6, {0, 6}) + data("abc") + end(3)), "malformed");
  EXPECT_EQ(error_of(upload_head("new", 6, {0, 6}) + data("abc") + wire({1, Error{{FileError::shrunk, ""}}})),
            "given up");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileServer, RefusesMoreDataThanTheRangeHas) {
  EXPECT_EQ(error_of(upload_head("new", 6, {0, 6}) + data("abcdefg") + end(7)), "malformed");
  EXPECT_EQ(error_of(upload_head("new", 6, {4, 3}) + data("abc") + end(3)), "beyond the end");
  EXPECT_EQ(error_of(upload_head("new", UINT64_MAX, {0, 6}) + data("abcdef") + end(6)), "too large");
  EXPECT_EQ(error_of(upload_head("new", 6, {UINT64_MAX, 2}) + data("ab") + end(2)), "malformed");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileServer, NamesNothingWithAnotherDigestThanWasSaid) {
  EXPECT_EQ(error_of(upload_head("new", 3, {0, 3}, 1, digest_of("abc")) + data("abd") + end(3)),
            "digest differs");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileServer, EndsWithAPeerThatSpeaksSomethingElse) {
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\n\r\n"), "version not spoken");
  EXPECT_EQ(error_of(data("text") + wire({2, Query{"old", false}})), "malformed");
  EXPECT_EQ(error_of(wire({1, Facts{}}) + wire({2, Query{"old", false}})), "malformed");
  EXPECT_EQ(error_of(upload_head("new", 6, {0, 6}) + wire({1, Query{"old", false}})), "malformed");
  EXPECT_EQ(error_of(upload_head("new", 6, {0, 6}) + data("abc", 2)), "malformed");
}

TEST_F(FileServer, EndsAfterAsManyRequestsAsItWasTold) {
  server().requests_per_connection = 1;
  const Decoded heard = ask(wire({1, Query{"old", false}}) + wire({2, Fragment{{0, 3}, "old"}}) +
                            wire({3, Fragment{{0, 3}, "old"}}));
  EXPECT_EQ(heard.data, "old");
  EXPECT_EQ(describe(heard.messages.back()), "2: end 3 -");
}

TEST_F(FileServer, AnswersTheSameHoweverTheStreamIsCut) {
  const std::string says = wire({1, Query{"old", false}}) + upload("new", "written", 2) +
                           wire({3, Fragment{{0, 7}, "new"}}) + upload("old", "x", 4) +
                           wire({5, Fragment{{0, 9}, "new"}});
  const auto answer = [&](Pair::Cut cut) {
    fs::remove(path("new"));
    Decoded heard = ask(says, std::move(cut));
    for (Message& message : heard.messages)
      if (auto* facts = std::get_if<Facts>(&message.body)) facts->modified_ns = 0;
    std::string text;
    for (const Message& message : heard.messages)  // a range may come in other frames, but no other bytes
      if (!std::holds_alternative<Data>(message.body)) text += describe(message) + "\n";
    return text + heard.data;
  };
  const std::string whole = answer(Pair::whole);
  EXPECT_NE(whole.find("written"), std::string::npos);
  EXPECT_EQ(answer(Pair::single), whole);
  for (std::size_t cut = 2; cut < 40; ++cut)
    EXPECT_EQ(answer([cut](std::size_t available) { return std::min(cut, available); }), whole) << cut;
}

class FileStrangers : public test::FileServerTest {
 protected:
  // Of the bytes that travel the first `place` come in two parts; with 0 each byte comes by itself.
  static Pair::Cut cut_at(std::size_t place) {
    if (place == 0) return Pair::single;
    return [left = place](std::size_t available) mutable {
      const std::size_t part = left == 0 ? available : std::min(left, available);
      left -= std::min(left, part);
      return part;
    };
  }
};

TEST_F(FileStrangers, AreToldWhatIsSpokenHereHoweverTheirBytesAreCut) {
  const std::string noise = "\xd3 is what nobody begins with";
  const std::string of_tls = std::string("\x16\x03\x01\x00\xff\x01\x00\x00\xfb\x03\x03", 11) + noise;
  for (const std::string& says : {std::string("GET /old HTTP/1.1\r\nHost: there\r\n\r\n"), of_tls,
                                  "joust token 1\n" + noise, "SSH-2.0-OpenSSH_9.2\r\n" + noise, noise})
    for (std::size_t place = 0; place <= says.size(); ++place) {
      const Decoded heard = ask(says, cut_at(place));
      ASSERT_EQ(heard.messages.size(), 1U) << says << ", cut at " << place;
      const auto* const error = std::get_if<Error>(&heard.messages[0].body);
      ASSERT_NE(error, nullptr) << says << ", cut at " << place;
      EXPECT_EQ(error->refusal.error, FileError::version);
      EXPECT_EQ(error->refusal.text, "version 2 is spoken here");
    }
}

TEST_F(FileStrangers, AreNoneWhoseRequestsComeInPieces) {
  const std::string says = upload("new", "text") + wire({2, Query{"new", false}});
  for (std::size_t place = 0; place <= says.size(); ++place) {
    const Decoded heard = ask(says, cut_at(place));
    ASSERT_EQ(heard.messages.size(), 2U) << "cut at " << place;
    EXPECT_TRUE(std::holds_alternative<Stored>(heard.messages[0].body)) << describe(heard.messages[0]);
    EXPECT_EQ(std::get<Facts>(heard.messages[1].body).size, 4U);
    std::filesystem::remove(path("new"));
  }
}

}  // namespace

}  // namespace joust::file
