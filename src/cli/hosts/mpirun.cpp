// SPDX-License-Identifier: MIT
#include "cli/hosts/mpirun.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace joust {
namespace {

namespace fs = std::filesystem;

// Ranks write to terminals of mpirun's own, so they do not see whether their output goes to a file in the
// end.
constexpr const char* kNoColor = "NO_COLOR";

bool is_in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

// Throws UsageError where there is none.
std::string relay() {
  auto path = hosts::relay_program();
  if (!path) throw UsageError(path.error());
  return *path;
}

}  // namespace

// Each host is an application of its own, because only so the ranks are in the order of the hosts: mpirun
// would begin with the host that it runs on. No process is bound to a core: the ranks would measure on one
// core only. The end of one rank does not end the others: the conductor names it and goes on.
std::vector<std::string> mpirun_words(const Program& program, const std::vector<std::string>& hosts) {
  const std::string own_relay = relay();
  if (!is_in_path("mpirun"))
    throw UsageError("several hosts need mpirun: install openmpi-bin (script/setup hosts)");
  std::error_code unknown;
  const fs::path own = fs::read_symlink("/proc/self/exe", unknown);
  std::vector<std::string> words{"mpirun", "--enable-recovery", "--bind-to", "none"};
  for (const std::string& host : hosts) {
    if (&host != &hosts.front()) words.emplace_back(":");
    words.insert(words.end(),
                 {"-n", "1", "--host", host, own_relay, own.empty() ? program.name : own.string()});
    words.insert(words.end(), program.words.begin() + 1, program.words.end());
  }
  return words;
}

namespace {

// Puts the command in this process's place.
[[noreturn]] void become(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  throw std::system_error(errno, std::generic_category(), fmt::format("exec({})", words.front()));
}

}  // namespace

void become_relay(const Program& program) {
  std::vector<std::string> words{relay(), "/proc/self/exe"};
  std::error_code unknown;
  if (const fs::path own = fs::read_symlink("/proc/self/exe", unknown); !own.empty())
    words.back() = own.string();
  words.insert(words.end(), program.words.begin() + 1, program.words.end());
  ::setenv(kNoColor, "1", 0);
  become(words);
}

}  // namespace joust
