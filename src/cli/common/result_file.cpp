// SPDX-License-Identifier: MIT
#include "cli/common/result_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/fd.hpp"
#include "cli/common/command.hpp"

namespace joust {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path) {
  const int error = errno;
  throw std::runtime_error(fmt::format("--json {}: cannot be written{}", path,
                                       error == 0 ? "" : fmt::format(": {}", std::strerror(error))));
}

// The mode that a file made here and now would have, which mkstemp() does not give.
mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// A file beside the one to be written, so that it can be renamed to it; gone unless it was.
class Draft {
 public:
  explicit Draft(const std::string& path) : target_(path), name_(path + ".XXXXXX") {
    const Fd made(::mkstemp(name_.data()));
    if (made.get() < 0) refuse(path);
    struct stat old {};
    const mode_t mode = ::stat(path.c_str(), &old) == 0 ? old.st_mode & 07777 : usual_mode();
    if (::fchmod(made.get(), mode) < 0) refuse(path);
  }
  ~Draft() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  void become_target(std::string_view text) {
    errno = 0;
    std::ofstream file(name_);
    if (!(file << text).flush() || ::rename(name_.c_str(), target_.c_str()) < 0) refuse(target_);
    name_.clear();
  }

 private:
  std::string target_, name_;
};

// What is there and is no file, such as /dev/stdout, cannot be renamed over: it is written to.
bool is_special(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none) && !fs::is_regular_file(path, none);
}

// A link stays one: what it leads to is replaced.
std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? path : real.string();
}

}  // namespace

void ensure_writable(const std::string& path, std::span<const std::string> used) {
  if (path.empty()) throw UsageError("--json: the value is empty");
  for (const std::string& other : used)
    if (!other.empty() && resolved(other) == resolved(path))
      throw UsageError(fmt::format("--json {}: this run uses that file itself; name another", path));
  std::error_code none;
  if (fs::is_fifo(path, none)) return;  // to open it would wait for a reader, or give it an end
  try {
    errno = 0;
    if (fs::exists(path, none) && !std::ofstream(path, std::ios::app)) refuse(path);
    if (!is_special(path)) const Draft tried(resolved(path));
  } catch (const std::runtime_error& error) {
    throw UsageError(error.what());
  }
}

void write_result(const std::string& path, std::string_view text) {
  if (!is_special(path)) {
    Draft(resolved(path)).become_target(text);
    return;
  }
  errno = 0;
  std::ofstream file(path);
  if (!(file << text).flush()) refuse(path);
}

}  // namespace joust
