// SPDX-License-Identifier: MIT
#include "files/transfer/listing.hpp"

#include <gtest/gtest.h>

#include "files/transfer/answering.hpp"

namespace joust::transfer {
namespace {

class Listings : public test::TransferAnswers {
 protected:
  static std::string names(Listing& listing) {
    std::string all;
    for (const RemoteItem& item : listing.take_items()) all += item.name + (item.is_folder ? "/ " : " ");
    return all;
  }
  std::string root(const std::string& name) const { return folder_.file("root/" + name); }
};

TEST_F(Listings, HaveAllThatIsBelowADirectoryHoweverTheStreamIsCut) {
  for (const char* name : {"sub/a/b", "sub/c"}) test::fs::create_directories(root(name));
  for (int i = 0; i < 40; ++i) test::fs::create_directories(root("sub/n" + std::to_string(i) + "/m"));
  std::ofstream(root("sub/a/file")) << "12345";
  for (const Pair::Cut& cut :
       {Pair::Cut(Pair::whole), Pair::Cut([](std::size_t n) { return std::min<std::size_t>(n, 7); })}) {
    Listing listing({.name = "sub", .recursive = true});
    test::Joined(listing, server(), cut).run();
    EXPECT_TRUE(listing.complaints().empty()) << listing.complaints().front();
    EXPECT_FALSE(listing.is_file());
    const auto items = listing.take_items();
    ASSERT_EQ(items.size(), 4U + 80U);
    EXPECT_EQ(items[2].name, "a/file");
    EXPECT_EQ(items[2].size, 5U);
  }
  Listing flat({.name = "sub/a"});
  test::Joined(flat, server()).run();
  EXPECT_EQ(names(flat), "b/ file ");
  Listing top({});
  test::Joined(top, server()).run();
  EXPECT_EQ(names(top), "old sub/ ");
}

TEST_F(Listings, TellAFileFromADirectoryAndFromNothing) {
  Listing file({.name = "old", .recursive = true});
  test::Joined(file, server()).run();
  EXPECT_TRUE(file.is_file());
  EXPECT_EQ(file.facts()->size, 3U);
  Listing none({.name = "none"});
  test::Joined(none, server()).run();
  EXPECT_EQ(none.complaints(), std::vector<std::string>{"none: the server says: not found"});
}

TEST_F(Listings, GoOnAfterALostConnection) {
  for (int i = 0; i < 200; ++i) test::fs::create_directories(root("sub/" + std::to_string(i) + "/x"));
  Listing listing({.name = "sub", .recursive = true});
  for (std::uint64_t most = 3000; most < 9000; most += 2000)
    test::Joined(listing, server(), Pair::whole, most).lose();
  test::Joined(listing, server()).run();
  EXPECT_TRUE(listing.complaints().empty());
  EXPECT_EQ(listing.counts().retries, 3U);
  EXPECT_EQ(listing.take_items().size(), 400U);
}

// A server that has a directory in itself: there is an end to it.
TEST_F(Listings, EndWhereTheServersDirectoriesDoNot) {
  Listing listing({.name = "top", .recursive = true, .limits = {.entries = 20}});
  const auto session = listing.open({});
  session->on_open(Pair::kBegin);
  const file::Entries part{{{.name = "again", .is_folder = true}}};
  for (std::uint32_t request = 1; request < 200 && !listing.over(); ++request)
    for (const file::Body& body :
         {file::Body(file::Facts{}), file::Body(part), file::Body(file::Listed{.entries = 1})})
      session->on_bytes(as_bytes(file::test::wire({request, body})), Pair::kBegin);
  ASSERT_EQ(listing.complaints().size(), 1U);
  EXPECT_NE(listing.complaints()[0].find("more than 20 files and directories"), std::string::npos);
}

// Also before the answer has come to its end.
TEST_F(Listings, EndWhereOneDirectoryDoesNot) {
  Listing listing({.limits = {.entries = 1000}});
  const auto session = listing.open({});
  session->on_open(Pair::kBegin);
  session->on_bytes(as_bytes(file::test::wire({1, file::Facts{}})), Pair::kBegin);
  const std::string part = file::test::wire({1, file::Entries{{{.name = "x"}, {.name = "y"}}}});
  int frames = 0;
  for (; frames < 100'000 && !listing.over(); ++frames) session->on_bytes(as_bytes(part), Pair::kBegin);
  EXPECT_EQ(frames, 501);
}

TEST_F(Listings, LookAtEachNameAsItComes) {
  Listing listing({});
  const auto session = listing.open({});
  session->on_open(Pair::kBegin);
  session->on_bytes(as_bytes(file::test::wire({1, file::Facts{}})), Pair::kBegin);
  EXPECT_FALSE(listing.over());
  session->on_bytes(as_bytes(file::test::wire({1, file::Entries{{{.name = std::string(300, 'n')}}}})),
                    Pair::kBegin);
  EXPECT_TRUE(listing.over()) << "and not when all have come";
  ASSERT_EQ(listing.complaints().size(), 1U);
}

TEST_F(Listings, TakeNothingThatIsNoAnswer) {
  const file::Entries part{{{.name = "x"}}};
  const std::vector<std::vector<file::Body>> wrong{
      {part},                                             // without the facts before
      {file::Facts{}, file::Facts{}},                     //
      {file::Facts{}, file::Entries{}},                   // empty ones have no end
      {file::Facts{}, part, file::Listed{.entries = 2}},  // not as many as have come
      {file::Facts{}, file::Stored{}},                    //
      {file::Facts{}, file::Data{5}},                     //
  };
  for (const auto& bodies : wrong) {
    Listing listing({.most_retries = 0});
    const auto session = listing.open({});
    session->on_open(Pair::kBegin);
    for (const file::Body& body : bodies)
      session->on_bytes(as_bytes(file::test::wire({1, body})), Pair::kBegin);
    EXPECT_TRUE(session->finished());
    EXPECT_EQ(listing.complaints().size(), 1U);
    EXPECT_EQ(listing.take_items().size(), 0U);
  }
}

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
