// SPDX-License-Identifier: MIT
#include "cli/send/standard_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "base/temporary_directory.hpp"
#include "files/store/file_version.hpp"

namespace joust {
namespace {

constexpr std::size_t kPart = 1 << 20;  // bytes

// Returns whether the input is a file at its start: a read would return only the bytes that have not been
// read yet.
bool is_whole_file(int fd) {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && ::lseek(fd, 0, SEEK_CUR) == 0;
}

int write_all(int fd, const std::byte* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t n = retry_interrupted([&] { return ::write(fd, bytes, size); });
    if (n < 0) return errno;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return 0;
}

// Copies the input to a file without a name. Throws std::runtime_error.
Fd spool(int from) {
  const std::string folder = temporary_directory();
  std::string name = folder + "/joust-send-XXXXXX";
  Fd file(::mkstemp(name.data()));
  const auto cannot_keep = [&](int error) {
    return std::runtime_error(
        fmt::format("-: standard input cannot be kept in {}: {}; set TMPDIR to another directory",
                    printable(folder), std::strerror(error)));
  };
  if (!file.is_open()) throw cannot_keep(errno);
  ::unlink(name.c_str());
  std::vector<std::byte> part(kPart);
  for (;;) {
    const ssize_t n = retry_interrupted([&] { return ::read(from, part.data(), part.size()); });
    if (n < 0) throw std::runtime_error(fmt::format("-: standard input: {}", std::strerror(errno)));
    if (n == 0) return file;
    if (const int error = write_all(file.get(), part.data(), static_cast<std::size_t>(n)); error != 0)
      throw cannot_keep(error);
  }
}

}  // namespace

std::expected<transfer::SourceList, std::string> standard_input(const std::string& name) {
  // A closed standard input is refused: the next file that is opened would get its number.
  if (::fcntl(STDIN_FILENO, F_GETFD) < 0) return std::unexpected("-: standard input is closed");
  const bool is_file = is_whole_file(STDIN_FILENO);
  Fd file = is_file ? Fd(checked(::dup(STDIN_FILENO), "-: standard input")) : spool(STDIN_FILENO);
  FileVersion version = version_of(file.get());
  if (!is_file) version.mode = usual_mode();
  transfer::SourceList list{.bytes = version.size};
  list.items.push_back(
      {.path = "-", .name = name, .opened = std::make_shared<const Fd>(std::move(file)), .version = version});
  return list;
}

}  // namespace joust
