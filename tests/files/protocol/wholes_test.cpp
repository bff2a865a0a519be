// SPDX-License-Identifier: MIT
//
// Files whose data follows at once, with their time and mode.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "files/protocol/upload_fixture.hpp"

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

}  // namespace
}  // namespace joust::file
