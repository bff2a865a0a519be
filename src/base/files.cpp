// SPDX-License-Identifier: MIT
#include "base/files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "base/build_facts.hpp"
#include "base/text.hpp"

namespace joust {

namespace fs = std::filesystem;

namespace {

// Returns whether only those whom the user of a program trusts anyway can have put something there.
bool is_trusted(const fs::path& path, uid_t owner_of_program) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || (facts.st_mode & S_IWOTH) != 0) return false;
  return facts.st_uid == 0 || facts.st_uid == ::geteuid() || facts.st_uid == owner_of_program;
}

fs::path own_program() {
  std::error_code unknown;
  return fs::read_symlink("/proc/self/exe", unknown);
}

fs::path beside(const fs::path& program, const char* installed) {
  return program.parent_path().parent_path() / installed;
}

// Returns whether the program is where it was built, or may be.
bool is_where_built(const fs::path& program) {
  const fs::path place(build::kFolder);
  return program.empty() || std::ranges::mismatch(place, program).in1 == place.end();
}

}  // namespace

std::filesystem::path own_file(const char* installed, const char* built) {
  const fs::path program = own_program();
  fs::path file = beside(program, installed);
  struct stat facts {};
  if (!program.empty() && ::stat(program.c_str(), &facts) == 0 && is_trusted(file, facts.st_uid) &&
      is_trusted(file.parent_path(), facts.st_uid))
    return file;
  std::error_code unknown;
  return is_where_built(program) && *built != '\0' && fs::exists(built, unknown) ? fs::path(built)
                                                                                 : fs::path();
}

std::string why_no_own_file(const char* installed) {
  const fs::path program = own_program(), file = beside(program, installed);
  std::error_code unknown;
  const char* const state = fs::exists(file, unknown) ? "may have been put there by others" : "is not there";
  const std::string elsewhere =
      is_where_built(program) ? fmt::format("none was built in {}", build::kFolder)
                              : fmt::format("this program is not in {}, where it was built", build::kFolder);
  return fmt::format("{} {}, and {}", file.string(), state, elsewhere);
}

std::expected<std::string, std::string> value_of_file(const std::string& path) {
  constexpr std::size_t kMostBytes = 16 << 20;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof())
    return std::unexpected(
        fmt::format("'{}' cannot be read: {}", printable(path), std::strerror(errno == 0 ? EIO : errno)));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes)
    return std::unexpected(fmt::format("'{}' has more than {} bytes", printable(path), kMostBytes));
  return text;
}

}  // namespace joust

#if __has_include(<elf.h>) && __has_include(<link.h>)
#include <elf.h>
#include <fcntl.h>
#include <link.h>

#include <cstdint>
#include <limits>

#include "base/fd.hpp"

namespace joust {
namespace {

using ElfHeader = ElfW(Ehdr);
using ElfSegment = ElfW(Phdr);

constexpr unsigned char kOwnClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

template <class Record>
bool read_record(const Fd& file, std::uint64_t at, Record& into) {
  if (at > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) return false;
  return ::pread(file.get(), &into, sizeof into, static_cast<off_t>(at)) == static_cast<ssize_t>(sizeof into);
}

// Returns where a part of the file ends; the greatest number where that is beyond all numbers.
std::uint64_t end_of(std::uint64_t begin, std::uint64_t size) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return size > kMost - begin ? kMost : begin + size;
}

std::uint64_t wanted_bytes(const Fd& file, const ElfHeader& header) {
  std::uint64_t wanted = sizeof header;
  const auto want = [&](std::uint64_t end) { wanted = end > wanted ? end : wanted; };
  if (header.e_shoff != 0) want(end_of(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize));
  want(end_of(header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfSegment segment{};
    if (!read_record(file, header.e_phoff + std::uint64_t{i} * header.e_phentsize, segment)) break;
    if (segment.p_type == PT_LOAD) want(end_of(segment.p_offset, segment.p_filesz));
  }
  return wanted;
}

}  // namespace

std::string missing_of_library(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  ElfHeader header{};
  if (!read_record(file, 0, header)) return {};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != kOwnClass) return {};
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  const std::uint64_t wanted = wanted_bytes(file, header);
  if (size >= wanted) return {};
  return fmt::format(
      "it is cut short: it has {} bytes, and its own header names parts that end at byte {}; copy "
      "or build it again",
      size, wanted);
}

}  // namespace joust
#else
std::string joust::missing_of_library(const std::string& /*path*/) {
  return {};
}
#endif
