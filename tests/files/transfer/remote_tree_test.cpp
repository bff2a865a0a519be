// SPDX-License-Identifier: MIT
#include "files/transfer/remote_tree.hpp"

#include <gtest/gtest.h>

namespace joust::transfer {
namespace {

FolderEntry file(std::string name, std::uint64_t size = 1) {
  return {.name = std::move(name), .size = size};
}
FolderEntry folder(std::string name) {
  return {.name = std::move(name), .is_folder = true};
}

TEST(RemoteTree, HasEachDirectoryBeforeWhatIsInIt) {
  RemoteTree tree("top", {});
  EXPECT_EQ(tree.add("", {file("a.b"), folder("a"), file("b")}), "");
  EXPECT_EQ(tree.add("a", {file("z"), folder("-")}), "");
  EXPECT_EQ(tree.add("a/-", {}), "");
  std::string names;
  for (const RemoteItem& item : tree.take_sorted()) names += item.name + ' ';
  EXPECT_EQ(names, "a a/- a/z a.b b ");
  EXPECT_EQ(tree.remote_name("a"), "top/a");
  EXPECT_EQ(RemoteTree("", {}).remote_name("a"), "a");
}

TEST(RemoteTree, TakesNoNameThatLeadsElsewhere) {
  for (const char* name : {"..", ".", "", "/etc", "a/b", "a/../../b", "../a", "a\nb", "a\x1b[31m", "\xff",
                           ".joust-partial-x", "a/"}) {
    RemoteTree tree("top", {});
    EXPECT_NE(tree.add("sub", {file("right"), file(name)}), "") << name;
  }
  RemoteTree tree("top", {});
  EXPECT_EQ(tree.add("sub", {file("..")}),
            "the server's list of top/sub is not to be trusted: it has '..': '.' and '..' are no names");
  EXPECT_EQ(
      tree.add("", {file("a\nb")}),
      "the server's list of top is not to be trusted: it has 'a\\x0ab': the name has a control character");
}

TEST(RemoteTree, TakesNoNameTwice) {
  RemoteTree tree("", {});
  EXPECT_EQ(tree.add("", {file("a"), file("b"), folder("a")}),
            "the server's list of its directory is not to be trusted: it has 'a' twice");
}

TEST(RemoteTree, HasLimits) {
  const TreeLimits limits{.entries = 5, .depth = 3, .name_bytes = 100, .bytes = 1000};
  EXPECT_EQ(RemoteTree("t", limits).add("", {file("1"), file("2"), file("3"), file("4"), file("5")}), "");
  RemoteTree tree("t", limits);
  EXPECT_EQ(tree.add("a/b", {folder("c")}), "");
  EXPECT_EQ(tree.add("a/b/c", {folder("d")}), "t/a/b/c: more than 3 directories in one another");
  EXPECT_EQ(tree.add("", {file(std::string(99, 'n'))}),
            "t: names of more than 100 B; take its directories one by one");
  EXPECT_EQ(RemoteTree("t", limits).add("", {file("a", 1000), file("b", 1)}),
            "the server's list of t is not to be trusted: the files have more than 1,000 bytes");
  EXPECT_NE(RemoteTree("t", {}).add("", {file("a", UINT64_MAX)}), "");
}

TEST(RemoteTree, LimitsWhatHasNotAllCome) {
  RemoteTree tree("", {.entries = 5, .name_bytes = 100});
  RemoteTree::Incoming one, other;
  const std::vector<RemoteItem> three{file("1"), file("2"), file("3")};
  EXPECT_EQ(tree.check_part("", three, one), "");
  EXPECT_EQ(tree.check_part("sub", three, other),
            "sub: more than 5 files and directories; take its directories one by one");
  tree.forget(one);
  EXPECT_EQ(tree.check_part("sub", {}, other), "") << "what a lost connection has had does not count";
  EXPECT_EQ(tree.check_part("", {{file(std::string(95, 'n'))}}, one),
            "the server's directory: names of more than 100 B; take its directories one by one");
  EXPECT_NE(tree.check_part("", {{file("..")}}, one), "");
}

}  // namespace
}  // namespace joust::transfer
