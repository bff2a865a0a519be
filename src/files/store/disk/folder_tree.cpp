// SPDX-License-Identifier: MIT
#include "files/store/disk/folder_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/files.hpp"
#include "files/store/file_version.hpp"
#include "files/store/name.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostKnown = 4096;  // directories

bool is_on_one_file_system(int folder, int file) {
  struct stat one {
  }, other{};
  return ::fstat(folder, &one) == 0 && ::fstat(file, &other) == 0 && one.st_dev == other.st_dev;
}

}  // namespace

std::optional<Parent> FolderTree::recent(std::string_view name) const {
  const auto [path, last] = split_name(name);
  const std::lock_guard lock(mutex_);
  if (path != recent_path_) return std::nullopt;
  auto handle = recent_.lock();
  if (!handle) return std::nullopt;
  return Parent{std::move(handle), std::string(last)};
}

void FolderTree::keep_recent(std::string_view name, const Parent& parent) {
  const std::lock_guard lock(mutex_);
  recent_path_ = split_name(name).folder;
  recent_ = parent.fd;
}

void FolderTree::forget_recent() {
  const std::lock_guard lock(mutex_);
  recent_.reset();
}

int FolderTree::sync_names(std::string_view name, int folder, int file) {
  const int error = directory_.each_parent(name, [&](int in, int found) {
    if (is_on_disk(found)) return 0;
    const int failed = sync(in, file);
    if (failed == 0) note_on_disk(found);
    return failed;
  });
  return error != 0 ? error : sync(folder, file);
}

// A handle cannot be synced, so the directory is opened again. A directory that may be written to but not
// read cannot be opened: then the whole file system of `file` is synced. Returns EIO also if the disk has
// failed to take names of this directory before, and EACCES if it cannot be synced in either way.
int FolderTree::sync(int folder, int file) {
  const auto identity = identity_of_folder(folder);
  if (!identity) return errno;
  if (has_failed(*identity)) return EIO;
  const Fd readable(
      retry_interrupted([&] { return ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  const bool may_be_read = readable.is_open() || errno != EACCES;
  if (!readable.is_open() && may_be_read) return errno;
  if (!may_be_read && !is_on_one_file_system(folder, file)) return EACCES;
  const auto sync = [&] { return may_be_read ? ::fsync(readable.get()) : sync_file_system(file); };
  if (retry_interrupted(sync) == 0) return 0;
  if (errno == ENOSYS) return EACCES;
  const int error = errno;
  note_failure(*identity, error);
  return error;
}

bool FolderTree::is_on_disk(int folder) const {
  const auto identity = identity_of_folder(folder);
  const std::lock_guard lock(mutex_);
  return identity && on_disk_.contains(*identity);
}

void FolderTree::note_on_disk(int folder) {
  const auto identity = identity_of_folder(folder);
  if (!identity) return;
  const std::lock_guard lock(mutex_);
  if (on_disk_.size() >= kMostKnown) on_disk_.clear();
  on_disk_.insert(*identity);
}

void FolderTree::note_failure(const FileVersion& version, int error) {
  const bool is_of_disk = error == EIO || error == ENOSPC || error == EDQUOT;
  const std::lock_guard lock(mutex_);
  if (is_of_disk && failed_.size() <= kMostFailures) failed_.insert(version);
}

bool FolderTree::has_failed(const FileVersion& version) const {
  const std::lock_guard lock(mutex_);
  return failed_.size() > kMostFailures || failed_.contains(version);
}

}  // namespace joust
