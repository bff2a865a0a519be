// SPDX-License-Identifier: MIT
#include "race/trial/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "temporary_folder.hpp"

namespace joust::race {
namespace {

// Sets a variable of the environment for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(TemporaryFolderOfARace, IsRemovedWithAllThatIsInIt) {
  const test::TemporaryFolder parent;
  std::string path;
  {
    const TemporaryFolder folder(parent.path());
    path = folder.path();
    std::ofstream(path + "/file") << "bytes";
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryFolderOfARace, OfAKilledRaceIsRemovedByTheNextOne) {
  const test::TemporaryFolder parent;
  const Variable variable("TMPDIR", parent.path());
  const TemporaryFolder in_use;
  const std::string left = parent.file("joust-race-AbCdEf"), other = parent.file("joust-other");
  std::filesystem::create_directories(left + "/files");
  std::ofstream(left + "/files/00000") << "bytes";
  std::filesystem::create_directory(other);
  std::filesystem::create_directory_symlink(other, parent.file("joust-race-linked"));
  remove_left_folders();
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(in_use.path())) << "its race is alive";
  EXPECT_TRUE(std::filesystem::exists(other)) << "no race has made it";
}

TEST(TemporaryFolderOfARace, AnEmptyTmpdirCountsAsUnset) {
  const Variable variable("TMPDIR", "");
  const TemporaryFolder folder;
  EXPECT_TRUE(folder.path().starts_with("/tmp/joust-race-")) << folder.path();
}

}  // namespace
}  // namespace joust::race
