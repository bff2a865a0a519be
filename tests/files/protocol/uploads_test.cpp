// SPDX-License-Identifier: MIT
//
// Files whose data follows at once, with their time and mode, and files that are offered first.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "failing_calls.hpp"
#include "files/protocol/server_fixture.hpp"

namespace joust::file {
namespace {

namespace fs = std::filesystem;
using joust::test::digest_of;
using joust::test::text_of;
using test::Decoded;
using test::describe;
using test::wire;

class FileWholes : public test::FileUploading {};

TEST_F(FileWholes, StoresAFileWithItsTimeAndMode) {
  const FileWishes wishes{.modified_ns = -1'500'000'000, .mode = 0100604};
  const Decoded heard = ask(whole("new", "written", wishes));
  ASSERT_EQ(heard.messages.size(), 1U);
  EXPECT_TRUE(std::get<Stored>(heard.messages[0].body).complete) << heard.text();
  struct stat facts {};
  ASSERT_EQ(::stat(path("new").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0604U);
  EXPECT_EQ(facts.st_mtim.tv_sec, -2);
  EXPECT_EQ(facts.st_mtim.tv_nsec, 500'000'000);
  const auto told = std::get<Facts>(ask(wire({1, Query{"new", false}})).messages.at(0).body);
  EXPECT_EQ(told.mode, 0604U);
  EXPECT_EQ(told.modified_ns, -1'500'000'000);
}

TEST_F(FileWholes, TakesAnyTimeThatCanBeSent) {
  for (const std::int64_t time_ns : {INT64_MIN, INT64_MIN + 1, INT64_MAX}) {
    const std::string name = "at" + std::to_string(time_ns);
    ask(whole(name, "x", {.modified_ns = time_ns}));
    struct stat facts {};
    ASSERT_EQ(::stat(path(name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mtim.tv_sec < 0, time_ns < 0) << "as near as the file system can";
  }
}

TEST_F(FileWholes, TellsATimeBeyondAllThatCanBeSent) {
  const std::array<timespec, 2> times{{{12'000'000'000, 0}, {12'000'000'000, 0}}};  // 2350
  ASSERT_EQ(::utimensat(AT_FDCWD, path("old").c_str(), times.data(), 0), 0);
  EXPECT_GT(std::get<Facts>(ask(wire({1, Query{"old", false}})).messages.at(0).body).modified_ns, 0);
}

// No rights come with a file.
TEST_F(FileWholes, TakesPermissionsOnly) {
  ask(whole("new", "x", {.mode = 07755}));
  struct stat facts {};
  ASSERT_EQ(::stat(path("new").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0755U);
}

TEST_F(FileWholes, StoresManySmallFilesWithoutARoundTripEach) {
  std::string says;
  for (std::uint32_t i = 0; i < 300; ++i)
    says += whole("f" + std::to_string(i), std::string(i, 'x'), {.mode = 0644}, i);
  const Decoded heard = ask(says);
  ASSERT_EQ(heard.messages.size(), 300U);
  for (const Message& message : heard.messages)
    ASSERT_TRUE(std::holds_alternative<Stored>(message.body)) << describe(message);
  EXPECT_EQ(text_of(path("f299")), std::string(299, 'x'));
  EXPECT_EQ(entries(), 302U);
}

TEST_F(FileWholes, ReplacesWhereBothSidesWantIt) {
  storage({.existing = Existing::replace});
  EXPECT_EQ(error_of(whole("old", "new")), "exists");
  ask(whole("old", "new", {.overwrites = true}));
  EXPECT_EQ(text_of(path("old")), "new");
}

TEST_F(FileWholes, MakesDirectoriesWhereItIsAsked) {
  EXPECT_EQ(error_of(whole("a/b/c", "text")), "not found");
  ask(whole("a/b/c", "text", {.makes_parents = true}));
  EXPECT_EQ(text_of(path("a/b/c")), "text");
}

TEST_F(FileWholes, NamesNothingThatIsDamaged) {
  std::string damaged = whole("new", "written");
  damaged[damaged.find("written")] = 'X';
  EXPECT_EQ(error_of(damaged), "digest differs");
  EXPECT_EQ(entries(), 2U);
}

// The connection goes on, and holds nothing of them.
TEST_F(FileWholes, KeepsNothingOfFilesThatAreRefused) {
  storage({.most_stored = 100'000});
  const std::uint64_t before = storage().quota().left();
  ServerSession session(server());
  const auto say = [&](const std::string& bytes) {
    EXPECT_EQ(deliver(as_bytes(bytes), session, Time{std::chrono::hours(1)}), bytes.size());
  };
  const std::string text(1000, 't');
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::string name = "f" + std::to_string(i);
    const std::string head = wire({i, Whole{1000, digest_of(text), {}, name}});
    if (i % 3 == 0) say(head + data(text, i) + wire({i, Error{{FileError::given_up, ""}}}));
    if (i % 3 == 1) say(head + data("short", i) + end(5, i));
    if (i % 3 == 2) say(wire({i, Whole{200'000, digest_of(text), {}, name}}) + end(0, i));
    EXPECT_EQ(storage().quota().left(), before) << i;
    EXPECT_EQ(entries(), 2U) << i;
  }
  say(whole("new", text));
  EXPECT_EQ(text_of(path("new")), text);
}

// The disk works on them together while more come, and each is told in the order of the requests.
TEST_F(FileWholes, FilesThatWaitForTheDiskAreAnsweredInTheirOrder) {
  const FileWishes synced{.mode = 0644, .synced = true};
  std::string says;
  constexpr std::uint32_t kFiles = 200;
  for (std::uint32_t i = 1; i <= kFiles; ++i) says += whole("new" + std::to_string(i), "text", synced, i);
  says += whole("old", "another", synced, kFiles + 1) + whole("skipped/..", "text", synced, kFiles + 2);
  says += wire({kFiles + 3, Query{"new200", false}}) + whole("last", "text", synced, kFiles + 4);
  for (const auto& cut : {Pair::Cut(Pair::whole), Pair::Cut([](std::size_t) { return std::size_t{7}; })}) {
    const Decoded heard = ask(says, cut);
    std::vector<file::Message> answers;
    for (const file::Message& message : heard.messages)
      if (!std::holds_alternative<Working>(message.body)) answers.push_back(message);
    ASSERT_EQ(answers.size(), kFiles + 4) << heard.text();
    for (std::uint32_t i = 0; i < kFiles; ++i) {
      EXPECT_EQ(answers[i].request, i + 1);
      ASSERT_TRUE(std::holds_alternative<Stored>(answers[i].body)) << describe(answers[i]);
      EXPECT_EQ(std::get<Stored>(answers[i].body).digest, digest_of("text"));
      EXPECT_EQ(text_of(path("new" + std::to_string(i + 1))), "text");
      fs::remove(path("new" + std::to_string(i + 1)));
    }
    EXPECT_EQ(std::get<Error>(answers[kFiles].body).refusal.error, FileError::exists);
    EXPECT_EQ(std::get<Error>(answers[kFiles + 1].body).refusal.error, FileError::name_refused);
    EXPECT_EQ(std::get<Facts>(answers[kFiles + 2].body).size, 4U) << "it is there when it is asked for";
    EXPECT_TRUE(std::get<Stored>(answers[kFiles + 3].body).complete);
    fs::remove(path("last"));
  }
}

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
