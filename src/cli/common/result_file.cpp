// SPDX-License-Identifier: MIT
#include "cli/common/result_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/files.hpp"
#include "cli/common/command.hpp"
#include "history/store.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;

// Returns a failure of the system, with errno.
std::system_error failure() {
  return {errno, std::generic_category()};
}

std::runtime_error unwritable(std::string_view option, const std::string& path,
                              const std::system_error& why) {
  return std::runtime_error(fmt::format("{} {}: cannot be written: {}", option, path, why.code().message()));
}

void write_all(const Fd& file, std::string_view text) {
  while (!text.empty()) {
    const auto written = retry_interrupted([&] { return ::write(file.get(), text.data(), text.size()); });
    if (written < 0) throw failure();
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Closes a written file. Network file systems may report a failed write only then.
void close_written(Fd& file) {
  if (::close(file.release()) < 0 && errno != EINTR) throw failure();
}

// A file beside the target, which can be renamed to it. Removed unless it was renamed.
class Draft {
 public:
  explicit Draft(const std::string& path) : target_(path), name_(path + ".XXXXXX") {
    file_ = Fd(::mkstemp(name_.data()));
    if (!file_.is_open()) {
      name_.clear();
      throw failure();
    }
    struct stat old {};
    const mode_t mode = ::stat(path.c_str(), &old) == 0 ? old.st_mode & 07777 : usual_mode();
    if (::fchmod(file_.get(), mode) < 0) {
      const auto refused = failure();
      ::unlink(name_.c_str());
      throw refused;
    }
  }
  ~Draft() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  void write(std::string_view text) {
    write_all(file_, text);
    close_written(file_);
  }
  void become_target() {
    if (::rename(name_.c_str(), target_.c_str()) < 0) throw failure();
    name_.clear();
  }

 private:
  std::string target_, name_;
  Fd file_;
};

// Returns the descriptor that the path names. Opening such a path anew would begin at the first byte of the
// file behind it, and overwrite the output there.
std::optional<int> descriptor_of(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view digits = path.substr(folder.size());
    int number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size()) return number;
  }
  return std::nullopt;
}

// Returns whether the path exists and is no regular file, such as a pipe. It cannot be replaced by a rename,
// and is written in place.
bool is_special(const std::string& path) {
  std::error_code none;
  return descriptor_of(path) || (fs::exists(path, none) && !fs::is_regular_file(path, none));
}

Fd opened(const std::string& path, int more = 0) {
  const auto known = descriptor_of(path);
  Fd file(known ? ::fcntl(*known, F_DUPFD_CLOEXEC, 0)
                : ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | more));
  if (!file.is_open()) throw failure();
  return file;
}

// Returns the path that links lead to; its last part need not exist.
std::string behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as in the kernel
  std::error_code none;
  fs::path place = path;
  for (int links = 0; fs::is_symlink(place, none); ++links) {
    if (links == kMostLinks) throw std::system_error(ELOOP, std::generic_category());
    place = place.parent_path() / fs::read_symlink(place);
  }
  return place.string();
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code none;
  const fs::path place = fs::weakly_canonical(one, none);
  return !place.empty() && place == fs::weakly_canonical(other, none);  // a pipe has none
}

void write_in_place(const std::string& path, std::string_view text) {
  Fd file = opened(path, O_TRUNC);
  write_all(file, text);
  close_written(file);
}

// Returns whether a file that could not be replaced for this reason may still be writable. A full disk is no
// such reason: the file's content would be lost for nothing.
bool may_be_in_place(const std::system_error& why) {
  constexpr std::array kReasons{EBUSY, EXDEV, EACCES, EPERM, EROFS};
  return std::ranges::find(kReasons, why.code().value()) != kReasons.end();
}

void replace(const std::string& path, std::string_view text) {
  try {
    Draft draft(path);
    draft.write(text);
    draft.become_target();
  } catch (const std::system_error& why) {
    if (!fs::exists(path) || !may_be_in_place(why)) throw;
    write_in_place(path, text);
  }
}

// Throws the system's error if neither a file beside the target nor the target itself can be written.
void try_to_write(const std::string& path) {
  const bool exists = descriptor_of(path) || fs::exists(path);
  if (exists) const Fd tried = opened(path);
  if (is_special(path)) return;
  try {
    const Draft tried(path);
  } catch (const std::system_error& why) {
    if (!exists || !may_be_in_place(why)) throw;
  }
}

// Writes a file in the directory of temporary files. Returns its name.
std::string write_elsewhere(std::string_view text) {
  constexpr std::string_view kEnding = ".json";
  std::string name = fmt::format("{}/joust-result-XXXXXX{}", temporary_directory(), kEnding);
  Fd file(::mkstemps(name.data(), static_cast<int>(kEnding.size())));
  if (!file.is_open()) throw failure();
  try {
    write_all(file, text);
    close_written(file);
  } catch (const std::system_error&) {
    ::unlink(name.c_str());
    throw;
  }
  return name;
}

}  // namespace

void ensure_writable(const std::string& path, std::span<const std::string> used, std::string_view option) {
  if (path.empty()) throw UsageError(fmt::format("{}: the value is empty", option));
  for (const std::string& other : used)
    if (!other.empty() && is_same_file(other, path))
      throw UsageError(fmt::format("{} {}: this run uses that file itself; name another", option, path));
  std::error_code none;
  if (fs::is_fifo(path, none)) return;  // opening it would wait for a reader, or end a reader's input
  try {
    try_to_write(is_special(path) ? path : behind_links(path));
  } catch (const std::system_error& why) {
    throw UsageError(unwritable(option, path, why).what());
  }
}

void write_result(const std::string& path, std::string_view text, std::string_view option) {
  try {
    if (is_special(path))
      write_in_place(path, text);
    else
      replace(behind_links(path), text);
  } catch (const std::system_error& why) {
    throw unwritable(option, path, why);
  }
}

std::string keep_result(const std::string& path, std::string_view text) {
  std::string what;
  try {
    write_result(path, text);
    return {};
  } catch (const std::runtime_error& unwritten) {
    what = unwritten.what();
  }
  try {
    return fmt::format("{}; the result is in {}", what, write_elsewhere(text));
  } catch (const std::system_error&) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    return what + "; the result is above";
  }
}

namespace {

// A document above this size is none that a race has made.
constexpr std::size_t kLargestDocument = std::size_t{256} << 20;

// Reads a whole file, up to the size of any result. Throws UsageError.
std::string whole_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[1 << 16];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargestDocument)
      throw UsageError(fmt::format("{}: is larger than 256 MiB, and no result of a race", path));
  }
  if (!file.eof())
    throw UsageError(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(errno)));
  return text;
}

std::string document_named(const std::string& name) {
  std::error_code none;
  const bool is_there = std::filesystem::exists(name, none) && !std::filesystem::is_directory(name, none);
  if (is_there || name.contains('/')) return whole_file(name);
  const auto no_result = [&](const std::string& why) {
    return UsageError(fmt::format("{}: there is no such file, and {}", name, why));
  };
  try {
    const auto store = history::open_store(history::default_path());
    if (const auto entry = store->find(name)) return store->document(entry->id);
  } catch (const std::runtime_error& failed) {
    throw no_result(failed.what());
  }
  throw no_result("no result in the history has that tag or number: see 'history'");
}

}  // namespace

history::NamedDocument read_stored_result(const std::string& file_or_name) {
  auto document = report::page::read_document(document_named(file_or_name));
  if (!document) throw UsageError(fmt::format("{}: {}", file_or_name, document.error()));
  return {.name = file_or_name, .document = std::move(*document)};
}

}  // namespace joust
