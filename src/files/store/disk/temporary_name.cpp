// SPDX-License-Identifier: MIT
#include "files/store/disk/temporary_name.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/check.hpp"
#include "base/digest.hpp"
#include "base/fd.hpp"
#include "files/store/name.hpp"

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

}  // namespace joust
