// SPDX-License-Identifier: MIT
#include "race/trial/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/check.hpp"
#include "base/files.hpp"
#include "race/model/scenario.hpp"

namespace joust::race {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "joust-race-";
constexpr const char* kTemplate = "joust-race-XXXXXX";  // for mkdtemp(3)

Fd open_folder(const std::string& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Returns whether a new folder is locked and exists. Another process that looks for folders without a lock
// may have found it first, and remove it. A file system without locks keeps left folders.
bool is_kept(const std::string& path, const Fd& folder) {
  if (!folder.is_open()) return false;
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) return false;
  return ::access(path.c_str(), F_OK) == 0;
}

bool is_left(const std::string& path) {
  const Fd folder = open_folder(path);
  struct stat status {};
  return folder.is_open() && ::fstat(folder.get(), &status) == 0 && status.st_uid == ::geteuid() &&
         ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
}

void remove_left_folders_in(const fs::path& parent) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(parent, ignored), end; !ignored && entry != end; entry.increment(ignored))
    if (entry->path().filename().native().starts_with(kPrefix)) found.push_back(entry->path());
  for (const fs::path& path : found)
    if (is_left(path)) fs::remove_all(path, ignored);
}

}  // namespace

TemporaryFolder::TemporaryFolder() : TemporaryFolder(temporary_directory()) {}

TemporaryFolder::TemporaryFolder(const fs::path& parent) {
  do {
    path_ = parent / kTemplate;
    if (::mkdtemp(path_.data()) == nullptr)
      checked(-1, "no folder for the files of a race can be made in {} (TMPDIR names another)",
              parent.string());
    locked_ = open_folder(path_);
  } while (!is_kept(path_, locked_));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void remove_left_folders() {
  std::set<fs::path> parents{temporary_directory()};
  for (const std::string& place : file_places()) parents.insert(folder_of({.on = place}));
  for (const fs::path& parent : parents) remove_left_folders_in(parent);
}

}  // namespace joust::race
