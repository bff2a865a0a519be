// SPDX-License-Identifier: MIT
#include "race/trial/moved_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "files/store/file_version.hpp"

namespace joust::race {
namespace {

namespace fs = std::filesystem;

// The last part of both folders' paths. It is the same, because a program that sends a folder may send its
// name too.
constexpr const char* kName = "files";
constexpr std::size_t kBlock = 1 << 20;
constexpr std::uint64_t kSpare = 4 << 20;  // for other programs

std::string name_of(std::uint64_t number) {
  return fmt::format("{:05}", number);
}

Fd open_file(const std::string& path, int flags, mode_t mode = 0) {
  return Fd(checked(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode), "open({})", path));
}

void write_all(const Fd& file, const std::vector<std::uint64_t>& words, std::size_t bytes) {
  const auto* const data = reinterpret_cast<const char*>(words.data());
  for (std::size_t at = 0; at < bytes;)
    at += static_cast<std::size_t>(checked(::write(file.get(), data + at, bytes - at), "write()"));
}

using Block = std::vector<char>;

// Reads a block of the file. Returns its number of bytes, which is smaller at the file's end.
std::size_t read_block(const Fd& file, Block& into) {
  std::size_t at = 0;
  while (at < into.size()) {
    const auto got =
        static_cast<std::size_t>(checked(::read(file.get(), into.data() + at, into.size() - at), "read()"));
    if (got == 0) break;
    at += got;
  }
  return at;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Returns the names in the folder, without "." and "..".
std::vector<std::string> names_in(const Fd& folder) {
  Fd again(checked(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "openat(the target)"));
  const std::unique_ptr<DIR, CloseFolder> stream(::fdopendir(again.get()));
  if (!stream) checked(-1, "fdopendir(the target)");
  static_cast<void>(again.release());  // it is the stream's now
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) checked(-1, "readdir(the target)");
  return names;
}

bool is_one_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Compares files with one pair of blocks for all of them: new memory for each takes longer than small files
// do.
class FileComparison {
 public:
  // Returns in words how the file of this name in the target differs from the source; empty if it is a copy.
  std::string difference(const std::string& source, const Fd& target, const std::string& name) {
    struct stat entry {};
    checked(::fstatat(target.get(), name.c_str(), &entry, AT_SYMLINK_NOFOLLOW), "fstatat({})", name);
    if (!S_ISREG(entry.st_mode)) return fmt::format("{} is no file in the target", name);
    const Fd left = open_file(source, O_RDONLY);
    const Fd right(
        checked(::openat(target.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC),
                "openat({})", name));
    struct stat from {};
    checked(::fstat(left.get(), &from), "fstat({})", source);
    checked(::fstat(right.get(), &entry), "fstat({})", name);
    if (is_one_file(from, entry))
      return fmt::format("{} in the target is the source itself, and no copy", name);
    return same(left, right) ? "" : fmt::format("{} in the target differs from the file", name);
  }

 private:
  bool same(const Fd& left, const Fd& right) {
    for (;;) {
      const std::size_t bytes = read_block(left, here_);
      if (read_block(right, there_) != bytes || std::memcmp(here_.data(), there_.data(), bytes) != 0)
        return false;
      if (bytes < here_.size()) return true;
    }
  }

  Block here_ = Block(kBlock), there_ = Block(kBlock);
};

}  // namespace

MovedFiles::MovedFiles(const FilePlan& plan)
    : plan_(plan), source_parent_(folder_of(plan)), source_(source_parent_.path() + '/' + kName) {
  write_sources();
}

// Writes random contents from a seed, so that files that are written again have the same bytes.
void MovedFiles::write_sources() {
  checked(::mkdir(source_.c_str(), 0777), "mkdir({})", source_);
  std::vector<std::uint64_t> words(std::min<std::uint64_t>(plan_.bytes, kBlock) / sizeof(std::uint64_t) + 1);
  std::uint64_t state = kMixStep;
  for (std::uint64_t i = 0; i < plan_.count; ++i) {
    const Fd file = open_file(source_ + '/' + name_of(i), O_WRONLY | O_CREAT | O_EXCL, 0644);
    for (std::uint64_t left = plan_.bytes; left > 0;) {
      for (std::uint64_t& word : words) word = mixed(state += kMixStep);
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, kBlock));
      write_all(file, words, part);
      left -= part;
    }
    versions_.push_back(version_of(file.get()));
  }
}

std::string MovedFiles::changed() const {
  for (std::uint64_t i = 0; i < plan_.count; ++i) {
    const std::string path = source_ + '/' + name_of(i);
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (i >= versions_.size() || !file.is_open())
      return fmt::format("the command has taken {} out of its folder", name_of(i));
    if (version_of(file.get()) != versions_[i])
      return fmt::format("the command has changed {} where it came from", name_of(i));
  }
  return {};
}

std::string MovedFiles::restore() {
  std::string what = changed();
  if (what.empty()) return what;
  fs::remove_all(source_);
  versions_.clear();
  write_sources();
  return what;
}

std::string MovedFiles::last() const {
  return name_of(plan_.count - 1);
}

void MovedFiles::remove_target() {
  target_folder_.close();
  target_.reset();
}

std::string MovedFiles::fresh_target() {
  if (versions_.size() != plan_.count) restore();  // a full disk has prevented an earlier restore
  remove_target();
  target_ = std::make_unique<TemporaryFolder>(folder_of(plan_));
  const std::string target = target_->path() + '/' + kName;
  checked(::mkdir(target.c_str(), 0777), "mkdir({})", target);
  target_folder_ = open_file(target, O_RDONLY | O_DIRECTORY);
  if (plan_.on == "memory") use_memory_once(target_->path() + "/memory");
  ::sync();  // otherwise earlier writes of other programs would be written in this contestant's time
  return target;
}

// Writes and frees as much memory as the files need. A virtual machine may have given free memory back to its
// host. Getting it again takes several times as long as copying into it, and would be charged to the first
// contestant.
void MovedFiles::use_memory_once(const std::string& path) const {
  const Fd file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  checked(::unlink(path.c_str()), "unlink({})", path);
  const std::vector<std::uint64_t> words(kBlock / sizeof(std::uint64_t));
  for (std::uint64_t left = plan_.all_bytes(); left > 0;) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, kBlock));
    write_all(file, words, part);
    left -= part;
  }
}

// Reads through the descriptor: a command may have put a link to other files in the folder's place.
std::string MovedFiles::difference() const {
  const std::string path = target_->path() + '/' + kName;
  struct stat made {
  }, named{};
  checked(::fstat(target_folder_.get(), &made), "fstat({})", path);
  checked(::lstat(path.c_str(), &named), "lstat({})", path);
  if (!is_one_file(made, named))
    return "the command has put something else in the place of the folder {into}";
  FileComparison comparison;
  std::uint64_t there = 0;
  for (const std::string& name : names_in(target_folder_)) {
    const auto number = parse_count(name);
    if (!number || *number >= plan_.count || name != name_of(*number))
      return fmt::format("the target has '{}', which is none of the files", printable(name));
    if (std::string wrong = comparison.difference(source_ + '/' + name, target_folder_, name); !wrong.empty())
      return wrong;
    ++there;
  }
  if (there == plan_.count) return {};
  return fmt::format("{} of {} arrived", there, counted(plan_.count, "file"));
}

MovedFiles& MovedFilesOfRace::of(const FilePlan& plan) {
  return files_.try_emplace(plan, plan).first->second;
}

std::string no_room_for(const FilePlan& files, std::uint64_t beside) {
  const std::string folder = folder_of(files);
  const Fd there(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!there.is_open() || ::access(folder.c_str(), W_OK) != 0)
    return fmt::format("unavailable: {}: {}", folder, std::strerror(errno));
  const auto room = file_system_room(there.get());
  const std::uint64_t wanted = beside + 2 * room_for(files) + kSpare;
  if (!room || room->bytes >= wanted) return {};
  return fmt::format("unavailable: {} has room for {}, and {} are needed: the files of all cases, and a copy",
                     folder, format_bytes(static_cast<double>(room->bytes)),
                     format_bytes(static_cast<double>(wanted)));
}

}  // namespace joust::race
