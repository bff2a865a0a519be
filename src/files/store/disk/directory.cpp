// SPDX-License-Identifier: MIT
#include "files/store/disk/directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif

#include <cerrno>
#include <cstdint>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/files.hpp"
#include "files/store/file_version.hpp"
#include "files/store/name.hpp"
#include "files/store/quota.hpp"

namespace joust {

namespace {

#ifndef O_PATH  // macOS
#define O_PATH O_SEARCH
#endif

// A handle that can neither read nor write, so search permission is enough.
constexpr int kHandle = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// openat2() that stays beneath `directory` and follows no symbolic link. Linux only: elsewhere it fails with
// ENOSYS, as on a kernel without the call.
#ifdef __linux__

// glibc has no wrapper for openat2.
int open_resolved(int directory, const char* name, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: a rename during the lookup prevented the check for "beneath".
  for (int attempt = 0; attempt < 16; ++attempt) {
    const long fd = ::syscall(SYS_openat2, directory, name, &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return static_cast<int>(fd);
  }
  return -1;
}

#else

int open_resolved(int /*directory*/, const char* /*name*/, int /*flags*/) {
  errno = ENOSYS;
  return -1;
}

#endif

bool has_openat2(int directory) {
  const Fd probe(open_resolved(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return probe.is_open() || (errno != ENOSYS && errno != EPERM);
}

std::expected<Fd, int> handle_of(int in, const std::string& part) {
  Fd fd(retry_interrupted([&] { return ::openat(in, part.c_str(), kHandle); }));
  if (!fd.is_open()) return std::unexpected(errno);
  return fd;
}

std::expected<Fd, int> another_handle(const Fd& folder) {
  Fd fd(::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0));
  if (!fd.is_open()) return std::unexpected(errno);
  return fd;
}

}  // namespace

std::expected<Fd, int> only_regular(Fd opened) {
  struct stat facts {};
  if (!opened.is_open() || ::fstat(opened.get(), &facts) != 0) return std::unexpected(errno);
  if (!S_ISREG(facts.st_mode)) return std::unexpected(S_ISDIR(facts.st_mode) ? EISDIR : ENODEV);
  return opened;
}

Directory::Directory(const std::string& path, Resolution resolution)
    : root_(checked(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "open the directory {}", path)),
      resolution_(has_openat2(root_.get()) ? resolution : Resolution::walk) {}

std::expected<Fd, int> Directory::open_beneath(std::string_view name, int flags) const {
  if (resolution_ == Resolution::walk) return walk(name, flags);
  Fd fd(open_resolved(root_.get(), std::string(name).c_str(), flags));
  if (!fd.is_open()) return std::unexpected(errno);
  return fd;
}

std::expected<Fd, int> Directory::walk(std::string_view name, int flags) const {
  Fd here;
  const auto parts = components(name);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const int from = here.is_open() ? here.get() : root_.get();
    const bool last = i + 1 == parts.size();
    const std::string part(parts[i]);
    Fd next(retry_interrupted([&] { return ::openat(from, part.c_str(), last ? flags : kHandle); }));
    if (!next.is_open()) return std::unexpected(errno);
    here = std::move(next);
  }
  return here;
}

std::expected<Fd, int> Directory::open_file(std::string_view name) const {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  auto fd = open_beneath(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
  if (!fd) return fd;
  return only_regular(std::move(*fd));
}

std::expected<Fd, int> Directory::open_folder(std::string_view name) const {
  constexpr int kToList = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  if (!name.empty()) return open_beneath(name, kToList);
  Fd root(retry_interrupted([&] { return ::openat(root_.get(), ".", kToList); }));
  if (!root.is_open()) return std::unexpected(errno);
  return root;
}

std::expected<Parent, int> Directory::open_parent(std::string_view name) const {
  const auto [folder, last] = split_name(name);
  auto opened = folder.empty() ? another_handle(root_) : open_beneath(folder, kHandle);
  if (!opened) return std::unexpected(opened.error());
  return Parent{std::make_shared<const Fd>(std::move(*opened)), std::string(last)};
}

// Opens the directories on the path to the name part by part, so that no link is followed in between. `open`
// gets a handle of the parent, and returns one of the directory, or the errno.
template <typename Open>
int Directory::walk_to_parent(std::string_view name, Open open) const {
  Fd here;
  auto parts = components(name);
  parts.pop_back();
  for (const std::string_view part : parts) {
    std::expected<Fd, int> next = open(here.is_open() ? here.get() : root_.get(), std::string(part));
    if (!next) return next.error();
    here = std::move(*next);
  }
  return 0;
}

int Directory::make_parents(std::string_view name, Quota* quota) const {
  return walk_to_parent(name,
                        [quota](int in, const std::string& part) { return open_or_make(in, part, quota); });
}

int Directory::each_parent(std::string_view name, const Step& step) const {
  return walk_to_parent(name, [&step](int in, const std::string& part) -> std::expected<Fd, int> {
    auto found = handle_of(in, part);
    if (!found) return found;
    if (const int error = step(in, found->get()); error != 0) return std::unexpected(error);
    return found;
  });
}

std::expected<Fd, int> Directory::open_or_make(int in, const std::string& part, Quota* quota) {
  auto found = handle_of(in, part);
  if (found || found.error() != ENOENT) return found;
  if (quota != nullptr && !quota->take(kEntryBytes)) return std::unexpected(EDQUOT);
  if (::mkdirat(in, part.c_str(), 0777) != 0) {
    const int error = errno;
    if (quota != nullptr) quota->give_back(kEntryBytes);
    if (error != EEXIST) return std::unexpected(error);
  }
  return handle_of(in, part);
}

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
