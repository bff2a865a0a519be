// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <algorithm>

#include "files/protocol/server_fixture.hpp"

namespace joust::file::test {
namespace {

class FileListing : public FileServerTest {
 protected:
  struct Heard {
    std::optional<Facts> facts{};
    std::vector<FolderEntry> entries{};
    std::optional<Listed> listed{};
    std::string error{};
    std::size_t frames = 0;
  };
  Heard list(const std::string& name, Pair::Cut cut = Pair::whole) {
    Heard heard;
    for (const Message& message : ask(wire({5, List{name}}), std::move(cut)).messages) {
      EXPECT_EQ(message.request, 5U);
      if (const auto* facts = std::get_if<Facts>(&message.body)) heard.facts = *facts;
      if (const auto* listed = std::get_if<Listed>(&message.body)) heard.listed = *listed;
      if (const auto* error = std::get_if<Error>(&message.body))
        heard.error = std::string(error_name(error->refusal.error));
      if (const auto* part = std::get_if<Entries>(&message.body)) {
        ++heard.frames;
        heard.entries.insert(heard.entries.end(), part->entries.begin(), part->entries.end());
      }
    }
    std::ranges::sort(heard.entries, {}, &FolderEntry::name);
    return heard;
  }
  std::string root(const std::string& name) const { return folder_.file("root/" + name); }
};

TEST_F(FileListing, HasWhatIsInADirectoryAndTheDirectoryItself) {
  ASSERT_EQ(::chmod(root("old").c_str(), 0640), 0);
  ASSERT_EQ(::chmod(root("sub").c_str(), 0750), 0);
  std::filesystem::create_symlink("/etc/passwd", root("link"));
  const Heard heard = list("");
  ASSERT_TRUE(heard.facts && heard.facts->mode && heard.listed);
  ASSERT_EQ(heard.entries.size(), 2U);
  EXPECT_EQ(heard.entries[0].name, "old");
  EXPECT_EQ(heard.entries[0].size, 3U);
  EXPECT_EQ(heard.entries[0].mode, 0640U);
  EXPECT_FALSE(heard.entries[0].is_folder);
  EXPECT_TRUE(heard.entries[1].is_folder);
  EXPECT_EQ(heard.entries[1].mode, 0750U);
  EXPECT_EQ(heard.listed->entries, 2U);
  EXPECT_EQ(heard.listed->left_out, 1U) << "the link";
  const Heard below = list("sub");
  EXPECT_EQ(below.facts->mode, 0750U);
  EXPECT_TRUE(below.entries.empty());
  EXPECT_EQ(below.listed->entries, 0U);
}

TEST_F(FileListing, LeadsNowhereElse) {
  std::filesystem::create_directory_symlink(folder_.path(), root("linked"));
  for (const char* name : {"..", "sub/../..", "/", "/etc", "sub/", ".joust-x", "a\nb"})
    EXPECT_EQ(list(name).error, "name refused") << name;
  EXPECT_NE(list("linked").error, "");
  EXPECT_NE(list("linked/root").error, "");
  EXPECT_EQ(list("none").error, "not found");
  EXPECT_EQ(list("old").error, "not found") << "a file";
}

// Frames have a limit, and the peer takes what it can: one byte at a time is the slowest.
TEST_F(FileListing, ComesInFramesHoweverSlowlyItIsRead) {
  const std::string prefix(200, 'n');
  for (int i = 0; i < 500; ++i) std::ofstream(root("sub/" + prefix + std::to_string(i)));
  for (const auto& cut : {Pair::whole, Pair::single}) {
    const Heard heard = list("sub", cut);
    EXPECT_EQ(heard.entries.size(), 500U);
    EXPECT_GE(heard.frames, 500 * prefix.size() / kLargestBody);
    EXPECT_EQ(heard.listed->entries, 500U);
  }
}

// A slice looks at few names, and what is not read holds the listing up.
TEST_F(FileListing, IsNoFasterThanItsReader) {
  for (int i = 0; i < 5000; ++i) std::ofstream(root("sub/" + std::to_string(i)));
  ServerSession session(server());
  const std::string asked = wire({1, List{"sub"}});
  session.on_open(Pair::kBegin);
  session.on_bytes(as_bytes(asked), Pair::kBegin);
  int slices = 0;
  for (; session.deadline() == Pair::kBegin && slices < 5000; ++slices) session.on_deadline(Pair::kBegin);
  EXPECT_GT(slices, 5);
  EXPECT_LT(slices, 5000 / 64) << "nobody reads";
  EXPECT_EQ(session.want(), Want::nothing);
}

TEST_F(FileListing, IsRefusedByAServerThatOnlyReceives) {
  server().gives = false;
  EXPECT_EQ(list("").error, "not permitted");
}

}  // namespace
}  // namespace joust::file::test
