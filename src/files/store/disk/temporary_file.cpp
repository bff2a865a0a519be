// SPDX-License-Identifier: MIT
#include "files/store/disk/temporary_file.hpp"

#include <fcntl.h>
#include <stdio.h>  // the calls are declared here
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/files.hpp"
#include "files/store/name.hpp"
#include "files/store/storage.hpp"

namespace joust {
namespace {

constexpr int kLooked = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

bool is_same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

std::string temporary_name(std::string_view kind, std::string_view last_part, unsigned number) {
  Digester digester;
  digester.add(as_bytes(last_part));
  std::string name = std::string(kTemporaryPrefix) + std::string(kind) + to_hex(digester.value());
  if (number > 0) name += '-' + std::to_string(number);
  return name;
}

bool is_temporary(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix)) return false;
  name.remove_prefix(kTemporaryPrefix.size());
  return name.starts_with(kPartialFile) || name.starts_with(kJournalFile) || name.starts_with(kNewFile);
}

int lock_file(int fd) {
  if (retry_interrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0) return 0;
  const bool has_none = errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS;
  return has_none ? 0 : errno == EWOULDBLOCK ? EBUSY : errno;
}

bool is_own(const struct stat& facts) {
  return S_ISREG(facts.st_mode) && facts.st_uid == ::geteuid() && facts.st_nlink == 1;
}

bool is_named(int fd, int folder, const std::string& name) {
  struct stat held {
  }, named{};
  return ::fstat(fd, &held) == 0 && ::fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         is_same(held, named);
}

// Holds the lock: no other process removes the file or gives it another name, and none can make a file of
// this name.
int remove_left(int folder, const std::string& name) {
  const Fd left(retry_interrupted([&] { return ::openat(folder, name.c_str(), kLooked); }));
  if (!left.is_open()) return errno;
  if (const int error = lock_file(left.get()); error != 0) return error;
  struct stat facts {};
  if (::fstat(left.get(), &facts) != 0) return errno;
  if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid()) return EACCES;
  if (!is_named(left.get(), folder, name)) return ENOENT;  // it has its final name meanwhile
  return ::unlinkat(folder, name.c_str(), 0) == 0 ? 0 : errno;
}

// Removes the journal first: no process looks for a journal without its file.
bool remove_partial(int folder, std::string_view last_part) {
  const std::string name = temporary_name(kPartialFile, last_part);
  const Fd left(retry_interrupted([&] { return ::openat(folder, name.c_str(), kLooked); }));
  struct stat facts {};
  if (!left.is_open() || lock_file(left.get()) != 0 || ::fstat(left.get(), &facts) != 0 || !is_own(facts))
    return false;
  if (!is_named(left.get(), folder, name)) return false;
  ::unlinkat(folder, temporary_name(kJournalFile, last_part).c_str(), 0);
  return ::unlinkat(folder, name.c_str(), 0) == 0;
}

void remove_second_name(int folder, std::string_view last_part, const struct stat& facts) {
  if (facts.st_nlink < 2) return;
  for (const std::string& name :
       {temporary_name(kPartialFile, last_part), temporary_name(kNewFile, last_part)}) {
    struct stat other {};
    if (::fstatat(folder, name.c_str(), &other, AT_SYMLINK_NOFOLLOW) == 0 && is_same(other, facts))
      remove_left(folder, name);
  }
}

namespace {

// Gives a file another name in the same directory. An existing file of that name is replaced; without
// `replaces` the call fails with EEXIST instead. Fails with ENOSYS or EINVAL where the system or the file
// system has no rename that never replaces.
int rename_in(int directory, const char* from, const char* to, bool replaces) {
#ifdef __linux__
  return ::renameat2(directory, from, directory, to, replaces ? 0U : RENAME_NOREPLACE);
#elif defined(__APPLE__)
  return ::renameatx_np(directory, from, directory, to, replaces ? 0U : RENAME_EXCL);
#else
  if (replaces) return ::renameat(directory, from, directory, to);
  errno = ENOSYS;
  return -1;
#endif
}

// Limit of files of one name that are written at the same time, where they need temporary names.
constexpr unsigned kMostNames = 64;

timespec time_of(std::int64_t since_1970_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t part = (since_1970_ns % kSecond + kSecond) % kSecond;
  timespec time{};
  time.tv_sec = static_cast<time_t>(since_1970_ns / kSecond - (since_1970_ns % kSecond < 0 ? 1 : 0));
  time.tv_nsec = static_cast<long>(part);
  return time;
}

}  // namespace

TemporaryFile::TemporaryFile(FolderTree& tree, std::string_view name, const NewFileRules& rules,
                             Parent parent)
    : tree_(tree), name_(name), rules_(rules), parent_(std::move(parent)) {}

TemporaryFile::~TemporaryFile() {
  TemporaryFile::abandon();
}

int TemporaryFile::create() {
  if (const int error = check_existing(); error != 0) return error;
  // A killed process leaves nothing of a nameless file.
  fd_ = Fd(retry_interrupted([&] { return open_nameless(folder(), first_mode()); }));
  if (fd_.is_open()) return 0;
  return take_free_name([this](const std::string& name) {
    const int error = open_as(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC);
    if (error != 0) return error;
    leave();  // until it is known to be ours: another process may have removed it before the lock
    return lock_file(fd_.get()) == 0 && is_named(fd_.get(), folder(), name) ? 0 : EEXIST;
  });
}

// Calls `make` with temporary names until one is free. Removes what killed processes have left under them.
// Returns the errno, or 0.
template <typename Make>
int TemporaryFile::take_free_name(Make make) {
  const auto name_of = [this](unsigned number) { return temporary_name(kNewFile, parent_.last, number); };
  unsigned number = 0;
  for (unsigned attempt = 0; attempt < 2 * kMostNames; ++attempt) {
    const int error = make(name_of(number));
    if (error == 0) {
      take(name_of(number));
      while (++number < kMostNames && remove_left(folder(), name_of(number)) != ENOENT) {
      }
      return 0;
    }
    if (error != EEXIST) return error;
    const int left = remove_left(folder(), name_of(number));
    if (left != 0 && left != ENOENT) ++number;
  }
  return EBUSY;
}

int TemporaryFile::check_existing() const {
  const auto now = existing_size();
  return now ? 0 : now.error();
}

int TemporaryFile::open_as(std::string temporary, int flags) {
  fd_ = Fd(retry_interrupted([&] { return ::openat(folder(), temporary.c_str(), flags, first_mode()); }));
  return fd_.is_open() ? take(std::move(temporary)) : errno;
}

int TemporaryFile::take(std::string temporary) {
  temporary_ = std::move(temporary);
  return 0;
}

void TemporaryFile::abandon() {
  if (!temporary_.empty()) ::unlinkat(folder(), temporary_.c_str(), 0);
  temporary_.clear();
}

// Returns the size of the existing file of that name, if it may be replaced; otherwise the errno.
std::expected<ReplacedBytes, int> TemporaryFile::existing_size() const {
  struct stat facts {};
  if (::fstatat(folder(), parent_.last.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return std::unexpected(errno);
  }
  remove_second_name(folder(), parent_.last, facts);
  // An entry that is no regular file is never replaced.
  if (!S_ISREG(facts.st_mode)) return std::unexpected(S_ISDIR(facts.st_mode) ? EISDIR : ENODEV);
  if (rules_.existing == Existing::keep) return std::unexpected(EEXIST);
  return static_cast<std::uint64_t>(facts.st_size);
}

int TemporaryFile::sync_folder(int fd) {
  return tree_.sync_names(name_, folder(), fd);
}

std::string_view TemporaryFile::folder_path() const {
  return split_name(name_).folder;
}

int TemporaryFile::confirm_folder() {
  const auto parent = tree_.directory().open_parent(name_);
  struct stat held {
  }, found{};
  const bool is_known = parent && ::fstat(folder(), &held) == 0 && ::fstat(parent->fd->get(), &found) == 0;
  if (is_known && held.st_dev == found.st_dev && held.st_ino == found.st_ino) return 0;
  const int error = !parent ? parent.error() : is_known ? ENOENT : errno;
  tree_.forget_recent();
  return error;
}

std::expected<ReplacedBytes, int> TemporaryFile::take_name(int fd) {
  if (replaced_) return *replaced_;  // an earlier attempt failed after the naming
  ReplacedBytes replaced;
  {
    const std::lock_guard lock(tree_.publishing());
    // If an existing file must be kept, the rename itself checks that.
    std::expected<ReplacedBytes, int> before;
    if (rules_.existing == Existing::replace) before = existing_size();
    if (!before) return before;
    if (const int error = set_name(fd); error != 0) return std::unexpected(error);
    replaced = *before;
  }
  temporary_.clear();
  replaced_ = replaced;
  on_named();
  return replaced;
}

int TemporaryFile::complete(int fd) {
  if (rules_.mode && ::fchmod(fd, *rules_.mode & kPermissionBits) != 0) return errno;
  if (rules_.modified_ns) {
    timespec now{};
    now.tv_nsec = UTIME_NOW;
    const std::array times{now, time_of(*rules_.modified_ns)};
    if (::futimens(fd, times.data()) != 0) return errno;
  }
  return 0;
}

// A file without a name cannot replace another one before it has a name to be renamed from.
int TemporaryFile::set_name(int fd) {
  if (!temporary_.empty()) return rename_into_place();
  const auto link_as = [this, fd](const std::string& name) {
    return name_nameless(fd, folder(), name.c_str()) == 0 ? 0 : errno;
  };
  if (rules_.existing == Existing::keep) return link_as(parent_.last);
  if (const int error = lock_file(fd); error != 0) return error;
  if (const int error = take_free_name(link_as); error != 0) return error;
  return rename_into_place();
}

// Removes the partial file of an earlier attempt, in which the file was large: it is never resumed.
void TemporaryFile::on_named() {
  try {
    remove_partial(folder(), parent_.last);
  } catch (const std::bad_alloc&) {
    // The file has its name, so that this is no failure of the file.
  }
}

int TemporaryFile::rename_into_place() const {
  const int in = folder();
  const char* const from = temporary_.c_str();
  const char* const to = parent_.last.c_str();
  const bool replaces = rules_.existing == Existing::replace;
  if (rename_in(in, from, to, replaces) == 0) return 0;
  if (errno == EBUSY) return kMountedOn;
  if (replaces || (errno != EINVAL && errno != ENOSYS && errno != EPERM)) return errno;
  // The file system or the kernel has no rename that never replaces; linkat() never replaces.
  if (::linkat(in, from, in, to, 0) != 0) return errno;
  ::unlinkat(in, from, 0);
  return 0;
}

}  // namespace joust
