// SPDX-License-Identifier: MIT
//
// Files that are offered first.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "failing_calls.hpp"
#include "files/protocol/upload_fixture.hpp"

namespace joust::file {
namespace {

namespace fs = std::filesystem;
using joust::test::digest_of;
using joust::test::text_of;
using test::Decoded;
using test::describe;
using test::wire;

class FileOffers : public test::FileUploading {};

// A connection that is lost while its file is checked. Others, which have sent ranges, hold it too.
TEST_F(FileOffers, FreesTheFileOfALostConnectionThatHasSealedIt) {
  const std::string text(8 << 20, 'x');
  const Time now{std::chrono::hours(1)};
  ServerSession first(server());
  auto second = std::make_unique<ServerSession>(server());
  const auto say = [now](ServerSession& session, const std::string& bytes) {
    EXPECT_EQ(deliver(as_bytes(bytes), session, now), bytes.size());
  };
  say(*second, offer("new", text, {.resumable = true}));
  say(first, range("new", text, {1 << 20, 3 << 20}, 1));
  say(first, range("new", text, {4 << 20, 4 << 20}, 2));
  say(*second, range("new", text, {0, 1 << 20}, 2));
  digests_ = 4;  // no turn is free for the check
  say(*second, seal("new", text, text));
  EXPECT_FALSE(fs::exists(path("new")));
  second.reset();
  digests_ = 0;
  const Message answer = ask(wire({1, Offer{text.size(), 10, {.resumable = true}, "new"}})).messages.at(0);
  EXPECT_TRUE(std::holds_alternative<Offered>(answer.body)) << describe(answer);
}

TEST_F(FileOffers, LeavesAnExistingFileAsItIsAsked) {
  EXPECT_EQ(error_of(whole("old", "new")), "exists");
  EXPECT_EQ(error_of(whole("old", "new", {.overwrites = true})), "exists") << "the server does not overwrite";
  EXPECT_EQ(describe(ask(whole("old", "new", {.skips_existing = true})).messages.at(0)),
            "1: offered: skipped");
  EXPECT_EQ(describe(ask(offer("old", "new", {.skips_existing = true})).messages.at(0)),
            "1: offered: skipped");
  EXPECT_EQ(error_of(offer("old", "new")), "exists");
  EXPECT_EQ(text_of(path("old")), "old");
}

// It may have come over a connection that was lost before the disk had it.
TEST_F(FileOffers, AsksTheDiskForAnExistingFileThatItLeaves) {
  const FileWishes wishes{.skips_existing = true, .synced = true};
  for (const std::string& says : {whole("old", "new", wishes), offer("old", "new", wishes)})
    EXPECT_EQ(describe(ask(says).messages.at(0)), "1: offered: skipped");
  for (const bool is_whole : {true, false}) {
    const std::string text = is_whole ? "first" : "another";
    std::ofstream(path("old")) << text;
    const std::string says = is_whole ? whole("old", "new", wishes) : offer("old", "new", wishes);
    const joust::test::Failing failing(joust::test::Call::fsync, EIO, 1);
    EXPECT_EQ(error_of(says), "input/output error");
    EXPECT_EQ(failing.failed(), 1U);
  }
}

// Who leaves existing files alone would take it for the file.
TEST_F(FileOffers, TakesNothingButAFileForAnExistingOne) {
  fs::create_symlink("old", path("link"));
  fs::create_symlink("nowhere", path("dangling"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  for (const char* name : {"sub", "link", "dangling", "fifo"})
    for (const FileWishes& wishes : {FileWishes{.skips_existing = true}, FileWishes{.overwrites = true}}) {
      EXPECT_EQ(error_of(whole(name, "new", wishes)), "not a file") << name;
      EXPECT_EQ(error_of(offer(name, "new", wishes)), "not a file") << name;
    }
  EXPECT_EQ(text_of(path("old")), "old");
  EXPECT_EQ(entries(), 5U);
}

TEST_F(FileOffers, CompletesAnOfferWhenItIsSealed) {
  const std::string text = "abcdef";
  const Decoded heard = ask(offer("new", text) + range("new", text, {3, 3}, 2) +
                            range("new", text, {0, 3}, 3) + seal("new", text, text));
  ASSERT_EQ(heard.messages.size(), 4U) << heard.text();
  EXPECT_EQ(describe(heard.messages[0]), "1: offered 0 discarded 0");
  EXPECT_EQ(describe(heard.messages[2]), "3: stored 0+3 false -") << "not before it is sealed";
  EXPECT_EQ(std::get<Stored>(heard.messages[3].body).digest, digest_of(text));
  EXPECT_TRUE(std::get<Stored>(heard.messages[3].body).complete);
  EXPECT_EQ(text_of(path("new")), text);
  EXPECT_EQ(entries(), 3U);
}

// The answer was lost with its connection, and the client has other connections on which to send it again.
TEST_F(FileOffers, ARangeThatIsThereMayComeAgain) {
  const std::string text = "abcdef";
  const Decoded heard =
      ask(offer("new", text) + range("new", text, {0, 4}, 2) + range("new", "XXXXXX", {0, 4}, 3) +
          range("new", text, {2, 4}, 4) + range("new", text, {4, 2}, 5) + range("new", text, {1, 5}, 6) +
          seal("new", text, text));
  ASSERT_EQ(heard.messages.size(), 7U) << heard.text();
  EXPECT_EQ(describe(heard.messages[2]), "3: stored 0+4 false -");
  EXPECT_EQ(std::get<Error>(heard.messages[3].body).refusal.error, FileError::overlap) << "only a part of it";
  EXPECT_EQ(describe(heard.messages[5]), "6: stored 1+5 false -");
  EXPECT_TRUE(std::get<Stored>(heard.messages[6].body).complete);
  EXPECT_EQ(text_of(path("new")), text) << "the first bytes stay";
}

TEST_F(FileOffers, ARangeThatIsThereEndsAsAnyOther) {
  const std::string text = "abcdef";
  const std::string head = wire({3, UploadRange{6, {0, 4}, 9, std::nullopt, false, "new", true}});
  const std::string there = offer("new", text) + range("new", text, {0, 4}, 2);
  EXPECT_EQ(describe(ask(there + head + data("ab", 3) + end(2, 3)).messages.at(2)),
            "3: error malformed 'not all of the range has come'");
  const Decoded heard = ask(there + head + wire({3, Error{{FileError::given_up, ""}}}) +
                            range("new", text, {4, 2}, 4) + seal("new", text, text));
  ASSERT_EQ(heard.messages.size(), 5U) << heard.text();
  EXPECT_EQ(std::get<Error>(heard.messages[2].body).refusal.error, FileError::given_up);
  EXPECT_TRUE(std::get<Stored>(heard.messages[4].body).complete);
}

TEST_F(FileOffers, SealsAFileOfNoBytes) {
  const Decoded heard = ask(offer("new", "") + seal("new", "", ""));
  EXPECT_TRUE(std::get<Stored>(heard.messages.at(1).body).complete) << heard.text();
  EXPECT_EQ(fs::file_size(path("new")), 0U);
}

TEST_F(FileOffers, RefusesASealThatComesTooEarlyOrIsWrong) {
  const std::string text = "abcdef";
  EXPECT_EQ(error_of(seal("new", text, text)), "not found");
  Decoded heard = ask(offer("new", text) + range("new", text, {3, 3}, 2) + seal("new", text, text));
  EXPECT_EQ(describe(heard.messages.at(2)), "8: error malformed 'not all of the file has come'");
  heard = ask(offer("new", text) + range("new", text, {0, 6}, 2) + seal("new", text, "another"));
  EXPECT_EQ(std::get<Error>(heard.messages.at(2).body).refusal.error, FileError::digest_differs);
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileOffers, RefusesRangesOfWhatWasNotOffered) {
  EXPECT_EQ(error_of(range("new", "abcdef", {0, 6}, 1)), "not found");
  EXPECT_EQ(entries(), 2U);
}

// The journal has a record every 8 MiB.
TEST_F(FileOffers, SaysWhatIsThereAfterAnInterruption) {
  const std::string text(20 << 20, 'x');
  std::string says = offer("new", text);
  for (std::uint32_t i = 0; i < 4; ++i) says += range("new", text, {std::uint64_t{i} << 22, 4 << 20}, 2 + i);
  ask(says);
  EXPECT_EQ(entries(), 4U);
  const Decoded heard = ask(offer("new", text));
  const auto there = std::get<Offered>(heard.messages.at(0).body).there;
  EXPECT_GE(there, 8U << 20);
  EXPECT_LE(there, 16U << 20);
  const auto discarded = std::get<Offered>(ask(offer("new", text + "x")).messages.at(0).body).discarded;
  EXPECT_GE(discarded, there);
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileOffers, DoesWhatItIsAllowedTo) {
  server().takes = false;
  EXPECT_EQ(error_of(offer("new", "text")), "not permitted");
  EXPECT_EQ(error_of(whole("new", "text")), "not permitted");
  EXPECT_EQ(error_of(upload("new", "text")), "not permitted");
  EXPECT_EQ(ask(wire({1, Fragment{{0, 3}, "old"}})).data, "old");
  server().takes = true;
  server().gives = false;
  EXPECT_EQ(error_of(wire({1, Fragment{{0, 3}, "old"}})), "not permitted");
  EXPECT_EQ(error_of(wire({1, Query{"old", true}})), "not permitted");
  EXPECT_EQ(error_of(offer("old", "text")), "exists");
}

}  // namespace
}  // namespace joust::file
