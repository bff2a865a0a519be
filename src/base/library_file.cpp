// SPDX-License-Identifier: MIT
#include "base/library_file.hpp"

#if __has_include(<elf.h>) && __has_include(<link.h>)
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
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
