// SPDX-License-Identifier: MIT
#include "files/store/new_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.hpp"
#include "files/store/quota.hpp"

namespace joust {
namespace {

Fd open_for_sync(int in, const std::string& name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  return Fd(retry_interrupted([&] { return ::openat(in, name.c_str(), kFlags); }));
}

}  // namespace

int NewFolder::create(std::uint32_t mode, Existing existing, Quota* pays) {
  if (const int error = take_existing(); error != ENOENT)
    return error != 0 || existing == Existing::keep ? error : set_mode(mode);
  if (pays != nullptr && !pays->take(kEntryBytes)) return EDQUOT;
  const int error = make(mode);
  if (error != 0 && pays != nullptr) pays->give_back(kEntryBytes);
  return error == EEXIST ? take_existing() : error;  // it was made by another session meanwhile
}

// Takes an existing directory. If it cannot be read, it has no descriptor: then only its name is synced.
int NewFolder::take_existing() {
  struct stat facts {};
  if (::fstatat(folder(), last_part().c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if (!S_ISDIR(facts.st_mode)) return EEXIST;
  fd_ = open_for_sync(folder(), last_part());
  was_there_ = true;
  return 0;
}

// Keeps the mode bits beyond the permissions. A directory that cannot be read is no error if it has the
// wanted permissions already.
int NewFolder::set_mode(std::uint32_t mode) {
  struct stat facts {};
  if (::fstatat(folder(), last_part().c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if ((facts.st_mode & kPermissionBits) == (mode & kPermissionBits)) return 0;
  if (!fd_.is_open()) return EACCES;
  if (::fstat(fd_.get(), &facts) != 0) return errno;
  const mode_t others = facts.st_mode & 07777 & ~kPermissionBits;
  return ::fchmod(fd_.get(), others | (mode & kPermissionBits)) == 0 ? 0 : errno;
}

// Makes the directory with mode 0700: no other user may look into it before it has the mode of its source. A
// set-group-ID bit that it inherits from its parent directory stays.
int NewFolder::make(std::uint32_t mode) {
  const char* const name = last_part().c_str();
  if (::mkdirat(folder(), name, 0700) != 0) return errno;
  fd_ = open_for_sync(folder(), last_part());
  struct stat facts {};
  const bool is_open = fd_.is_open() && ::fstat(fd_.get(), &facts) == 0;
  const mode_t inherited = facts.st_mode & S_ISGID;
  if (is_open && ::fchmod(fd_.get(), inherited | (mode & kPermissionBits)) == 0) return 0;
  const int error = errno;
  ::unlinkat(folder(), name, AT_REMOVEDIR);
  return error;
}

}  // namespace joust
