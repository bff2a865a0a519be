// SPDX-License-Identifier: MIT
#include "files/store/disk/named_entry.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/check.hpp"
#include "files/store/disk/temporary_file.hpp"
#include "files/store/file_version.hpp"
#include "files/store/quota.hpp"

namespace joust {
namespace {

Fd open_for_sync(int in, const std::string& name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  return Fd(retry_interrupted([&] { return ::openat(in, name.c_str(), kFlags); }));
}

}  // namespace

NamedEntry::Answer NamedEntry::find(FolderTree& tree, std::string_view name) {
  auto file = tree.directory().open_file(name);
  if (!file) return std::unexpected(file.error());
  auto parent = tree.directory().open_parent(name);
  if (!parent) return std::unexpected(parent.error());
  struct stat facts {};
  if (::fstat(file->get(), &facts) == 0) remove_second_name(parent->fd->get(), parent->last, facts);
  return std::shared_ptr<NamedEntry>(new NamedEntry(tree, name, std::move(*parent), std::move(*file)));
}

NamedEntry::Answer NamedEntry::make_folder(FolderTree& tree, std::string_view name, Parent parent,
                                           const NewFileRules& rules) {
  auto folder = std::shared_ptr<NamedEntry>(new NamedEntry(tree, name, std::move(parent), Fd()));
  if (const int error = folder->create_folder(rules); error != 0) return std::unexpected(error);
  return folder;
}

int NamedEntry::create_folder(const NewFileRules& rules) {
  const std::uint32_t mode = rules.mode.value_or(0777);
  if (const int error = take_existing(); error != ENOENT)
    return error != 0 || rules.existing == Existing::keep ? error : set_mode(mode);
  if (rules.quota != nullptr && !rules.quota->take(kEntryBytes)) return EDQUOT;
  was_there_ = false;
  const int error = make(mode);
  if (error != 0 && rules.quota != nullptr) rules.quota->give_back(kEntryBytes);
  return error == EEXIST ? take_existing() : error;  // it was made by another session meanwhile
}

// Takes an existing directory. If it cannot be read, it has no descriptor: then only its name is synced.
int NamedEntry::take_existing() {
  struct stat facts {};
  if (::fstatat(folder(), parent_.last.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if (!S_ISDIR(facts.st_mode)) return EEXIST;
  fd_ = open_for_sync(folder(), parent_.last);
  was_there_ = true;
  return 0;
}

// Keeps the mode bits beyond the permissions. A directory that cannot be read is no error if it has the
// wanted permissions already.
int NamedEntry::set_mode(std::uint32_t mode) {
  struct stat facts {};
  if (::fstatat(folder(), parent_.last.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if ((facts.st_mode & kPermissionBits) == (mode & kPermissionBits)) return 0;
  if (!fd_.is_open()) return EACCES;
  if (::fstat(fd_.get(), &facts) != 0) return errno;
  const mode_t others = facts.st_mode & 07777 & ~kPermissionBits;
  return ::fchmod(fd_.get(), others | (mode & kPermissionBits)) == 0 ? 0 : errno;
}

// Makes the directory with mode 0700: no other user may look into it before it has the mode of its source. A
// set-group-ID bit that it inherits from its parent directory stays.
int NamedEntry::make(std::uint32_t mode) {
  const char* const name = parent_.last.c_str();
  if (::mkdirat(folder(), name, 0700) != 0) return errno;
  fd_ = open_for_sync(folder(), parent_.last);
  struct stat facts {};
  const bool is_open = fd_.is_open() && ::fstat(fd_.get(), &facts) == 0;
  const mode_t inherited = facts.st_mode & S_ISGID;
  if (is_open && ::fchmod(fd_.get(), inherited | (mode & kPermissionBits)) == 0) return 0;
  const int error = errno;
  ::unlinkat(folder(), name, AT_REMOVEDIR);
  return error;
}

// A directory is known by its identity: its times change with each name in it.
bool NamedEntry::watch() {
  struct stat facts {};
  if (::fstat(number(), &facts) != 0) return true;  // without a descriptor only the name is synced
  const auto identity = S_ISDIR(facts.st_mode) ? identity_of_folder(number()) : version_of(facts);
  if (!identity) return true;
  is_watched_ = true;
  version_ = *identity;
  return !tree_.has_failed(version_);
}

bool NamedEntry::is_large() const {
  struct stat facts {};
  return ::fstat(number(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         static_cast<std::uint64_t>(facts.st_size) >= kPublishedAlone;
}

void NamedEntry::sync(GroupCommit* commits) {
  {
    const std::lock_guard lock(mutex_);
    is_waiting_ = true;
  }
  if (commits == nullptr || !begin_sync(*commits)) publish_alone();
}

// An entry whose connection has ended is not synced.
bool NamedEntry::begin_sync(GroupCommit& commits) {
  if (!is_large()) return commits.add(shared_from_this());
  return commits.add_alone([entry = weak_from_this()] {
    if (const auto self = entry.lock()) self->publish_alone();
  });
}

void NamedEntry::committed(std::expected<ReplacedBytes, int> published) {
  if (is_watched_) {
    if (!published) tree_.note_failure(version_, published.error());
    // The group had another entry of the same file, which got the failure.
    if (published && tree_.has_failed(version_)) published = std::unexpected(EIO);
  }
  const std::lock_guard lock(mutex_);
  is_waiting_ = false;
  error_ = published ? 0 : published.error();
}

FileAnswer<bool> NamedEntry::is_on_disk() {
  const std::lock_guard lock(mutex_);
  if (error_ != 0) return refused(error_of(error_));
  return !is_waiting_;
}

}  // namespace joust
