// SPDX-License-Identifier: MIT
#include "base/own_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "base/build_facts.hpp"

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

}  // namespace joust
