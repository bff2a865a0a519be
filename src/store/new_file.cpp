// SPDX-License-Identifier: MIT
#include "store/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "base/check.hpp"
#include "store/name.hpp"

namespace joust {
namespace {

std::string unguessable_name() {
  std::array<std::uint64_t, 2> random{};
  checked(retry_interrupted([&] { return ::getrandom(random.data(), sizeof random, 0); }), "getrandom()");
  return fmt::format("{}partial-{:016x}{:016x}", kTemporaryPrefix, random[0], random[1]);
}

}  // namespace

NewFile::NewFile(const Directory& directory, std::string_view name, Existing existing, Parent parent)
    : directory_(&directory),
      name_(name),
      existing_(existing),
      parent_(std::move(parent)),
      temporary_(unguessable_name()) {}

std::expected<NewFile, int> NewFile::create(const Directory& directory, std::string_view name,
                                            Existing existing) {
  auto parent = directory.open_parent(name);
  if (!parent) return std::unexpected(parent.error());
  NewFile file(directory, name, existing, std::move(*parent));
  if (const int error = file.refuses(); error != 0) return std::unexpected(error);
  constexpr int kFresh = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  file.fd_ = Fd(retry_interrupted(
      [&] { return ::openat(file.parent_.fd.get(), file.temporary_.c_str(), kFresh, 0666); }));
  if (!file.fd_.is_open()) {
    const int error = errno;
    file.temporary_.clear();
    return std::unexpected(error);
  }
  return file;
}

NewFile::~NewFile() {
  abandon();
}

void NewFile::abandon() {
  if (parent_.fd.is_open() && !temporary_.empty()) ::unlinkat(parent_.fd.get(), temporary_.c_str(), 0);
  temporary_.clear();
}

// What has the name now stands in the way: an errno, or 0.
int NewFile::refuses() const {
  struct stat facts {};
  if (::fstatat(parent_.fd.get(), parent_.last.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? 0 : errno;
  if (existing_ == Existing::keep) return EEXIST;
  return S_ISREG(facts.st_mode) ? 0 : ENODEV;
}

int NewFile::publish() {
  const auto parent = directory_->open_parent(name_);
  if (!parent) return parent.error();
  struct stat held {
  }, found{};
  if (::fstat(parent_.fd.get(), &held) != 0 || ::fstat(parent->fd.get(), &found) != 0) return errno;
  if (held.st_dev != found.st_dev || held.st_ino != found.st_ino) return ENOENT;
  if (const int error = refuses(); error != 0) return error;
  if (const int error = rename_into_place(); error != 0) return error;
  temporary_.clear();
  return 0;
}

int NewFile::rename_into_place() const {
  const int in = parent_.fd.get();
  const char* const from = temporary_.c_str();
  const char* const to = parent_.last.c_str();
  const unsigned flags = existing_ == Existing::keep ? RENAME_NOREPLACE : 0;
  if (::renameat2(in, from, in, to, flags) == 0) return 0;
  if (flags == 0 || (errno != EINVAL && errno != ENOSYS)) return errno;
  // The file system cannot rename without replacing; a second link never replaces.
  if (::linkat(in, from, in, to, 0) != 0) return errno;
  ::unlinkat(in, from, 0);
  return 0;
}

}  // namespace joust
