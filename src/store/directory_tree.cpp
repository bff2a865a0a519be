// SPDX-License-Identifier: MIT
#include "store/directory_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "base/check.hpp"
#include "store/name.hpp"
#include "store/rename.hpp"

namespace joust {
namespace {

std::string unguessable_name() {
  std::array<std::uint64_t, 2> random{};
  checked(::getentropy(random.data(), sizeof random), "getentropy()");
  return fmt::format("{}partial-{:016x}{:016x}", kTemporaryPrefix, random[0], random[1]);
}

}  // namespace

class DirectoryTree::TemporaryFile : public NewFile {
 public:
  TemporaryFile(const Directory& directory, std::mutex& publishing, std::string_view name, Existing existing,
                Parent parent)
      : directory_(directory),
        publishing_(publishing),
        name_(name),
        existing_(existing),
        parent_(std::move(parent)),
        temporary_(unguessable_name()) {}
  ~TemporaryFile() override { abandon(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int create();  // returns the errno, or 0
  std::expected<ReplacedBytes, int> publish() override;
  void abandon() override;

 private:
  std::expected<ReplacedBytes, int> in_its_place() const;
  int rename_into_place() const;

  const Directory& directory_;
  std::mutex& publishing_;  // the tree's
  const std::string name_;
  const Existing existing_;
  const Parent parent_;
  std::string temporary_;  // empty: no such file
};

std::expected<std::unique_ptr<NewFile>, int> DirectoryTree::create(std::string_view name, Existing existing) {
  auto parent = directory_.open_parent(name);
  if (!parent) return std::unexpected(parent.error());
  auto file = std::make_unique<TemporaryFile>(directory_, publishing_, name, existing, std::move(*parent));
  if (const int error = file->create(); error != 0) return std::unexpected(error);
  return file;
}

int DirectoryTree::TemporaryFile::create() {
  constexpr int kFresh = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const auto now = in_its_place();
  int error = now ? 0 : now.error();
  if (error == 0) {
    fd_ = Fd(retry_interrupted([&] { return ::openat(parent_.fd.get(), temporary_.c_str(), kFresh, 0666); }));
    if (!fd_.is_open()) error = errno;
  }
  if (error != 0) temporary_.clear();
  return error;
}

void DirectoryTree::TemporaryFile::abandon() {
  if (!temporary_.empty()) ::unlinkat(parent_.fd.get(), temporary_.c_str(), 0);
  temporary_.clear();
}

// The size of the existing file of that name, if it may be replaced; otherwise the errno.
std::expected<ReplacedBytes, int> DirectoryTree::TemporaryFile::in_its_place() const {
  struct stat facts {};
  if (::fstatat(parent_.fd.get(), parent_.last.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return std::unexpected(errno);
  }
  if (existing_ == Existing::keep) return std::unexpected(EEXIST);
  if (!S_ISREG(facts.st_mode)) return std::unexpected(ENODEV);
  return static_cast<std::uint64_t>(facts.st_size);
}

std::expected<ReplacedBytes, int> DirectoryTree::TemporaryFile::publish() {
  const auto parent = directory_.open_parent(name_);
  if (!parent) return std::unexpected(parent.error());
  struct stat held {
  }, found{};
  if (::fstat(parent_.fd.get(), &held) != 0 || ::fstat(parent->fd.get(), &found) != 0)
    return std::unexpected(errno);
  if (held.st_dev != found.st_dev || held.st_ino != found.st_ino) return std::unexpected(ENOENT);
  const std::lock_guard lock(publishing_);
  const auto replaced = in_its_place();
  if (!replaced) return replaced;
  if (const int error = rename_into_place(); error != 0) return std::unexpected(error);
  temporary_.clear();
  return replaced;
}

int DirectoryTree::TemporaryFile::rename_into_place() const {
  const int in = parent_.fd.get();
  const char* const from = temporary_.c_str();
  const char* const to = parent_.last.c_str();
  const bool replaces = existing_ == Existing::replace;
  if (rename_in(in, from, to, replaces) == 0) return 0;
  if (replaces || (errno != EINVAL && errno != ENOSYS && errno != EPERM)) return errno;
  // The file system or the kernel has no rename that never replaces; linkat() never replaces.
  if (::linkat(in, from, in, to, 0) != 0) return errno;
  ::unlinkat(in, from, 0);
  return 0;
}

}  // namespace joust
