// SPDX-License-Identifier: MIT
//
// Names from peers, and hidden files under names that follow from the final ones: what a killed process has
// left goes, and what another one holds stays.
#include "files/store/disk/temporary_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/fd.hpp"
#include "failing_calls.hpp"
#include "files/store/hostile_names.hpp"
#include "files/store/name.hpp"
#include "files/store/storage_fixture.hpp"

namespace joust {
namespace {

TEST(Name, RefusesEveryHostileOne) {
  for (const std::string& name : test::hostile_names())
    EXPECT_NE(objection_to(name), "") << testing::PrintToString(name);
}

TEST(Name, TakesOrdinaryOnes) {
  for (const std::string& name :
       {std::string("a"), std::string("a/b.txt"), std::string("..."), std::string("a..b"),
        std::string(".hidden"), std::string("grüße/日本語/😀"), std::string("a b"), std::string("trailing."),
        std::string(255, 'x'), std::string("\xc2\xa0")})
    EXPECT_EQ(objection_to(name), "") << name;
}

TEST(Name, HasBoundsOnItsLength) {
  EXPECT_NE(objection_to(std::string(256, 'x')), "");
  std::string longest;
  while (longest.size() + 64 <= kLongestName) longest += std::string(63, 'x') + "/";
  longest.back() = 'x';
  EXPECT_EQ(longest.size(), kLongestName);
  EXPECT_EQ(objection_to(longest), "");
  EXPECT_NE(objection_to(longest + "x"), "");
}

TEST(Name, IsCutIntoComponents) {
  EXPECT_EQ(components("a/b/c"), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_EQ(components("a//"), (std::vector<std::string_view>{"a", "", ""}));
}

namespace fs = std::filesystem;

class TemporaryNames : public test::StorageTest {
 protected:
  std::string left(std::string_view kind, unsigned number = 0) {
    const std::string file = path(temporary_name(kind, "old", number));
    std::ofstream(file) << "left";
    return file;
  }
  // Replaces the file that is there.
  void replace(const std::string& text) {
    storage({.existing = Existing::replace});
    const auto upload = storage().upload({.name = "old",
                                          .size = text.size(),
                                          .digest = test::digest_of(text),
                                          .wishes = FileWishes{.mode = 0644, .overwrites = true}});
    ASSERT_TRUE(upload && (*upload)->take({0, text.size()}));
    test::store(**upload, text, {0, text.size()});
    (*upload)->finish({0, text.size()});
    EXPECT_TRUE(test::check(**upload));
    EXPECT_EQ(test::text_of(path("old")), text);
  }
};

TEST_F(TemporaryNames, OfKilledProcessesAreFreeForTheNext) {
  left(kNewFile), left(kNewFile, 1), left(kNewFile, 2);
  left(kPartialFile), left(kJournalFile);
  replace("new");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(TemporaryNames, ThatAreHeldStay) {
  for (const bool has_nameless : {true, false}) {
    const test::Failing named(test::Call::nameless, has_nameless ? 0 : EOPNOTSUPP);
    const std::string held = left(kNewFile), partial = left(kPartialFile), journal = left(kJournalFile);
    const Fd one(::open(held.c_str(), O_RDONLY | O_CLOEXEC));
    const Fd other(::open(partial.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(lock_file(one.get()) + lock_file(other.get()), 0);
    replace(has_nameless ? "new" : "newer");
    for (const std::string& file : {held, partial, journal}) EXPECT_EQ(test::text_of(file), "left");
    EXPECT_EQ(entries(), 5U);
  }
}

TEST_F(TemporaryNames, AreAsLongAsANameMayBe) {
  const std::string longest(255, 'n');
  EXPECT_LE(temporary_name(kPartialFile, longest, 63).size(), 255U);
  EXPECT_NE(temporary_name(kNewFile, longest), temporary_name(kNewFile, longest.substr(1)));
  EXPECT_TRUE(is_temporary(temporary_name(kNewFile, longest)));
  EXPECT_FALSE(is_temporary(".joust-other"));
}

}  // namespace

}  // namespace joust
