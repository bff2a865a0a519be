// SPDX-License-Identifier: MIT
#include "measure/process_tree.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>

#include "measure/proc_file.hpp"

namespace joust {
namespace {

// Returns the numeric names in a directory of /proc, processes or threads; empty if the directory no longer
// exists.
std::vector<pid_t> numbered_in(const std::string& directory) {
  std::vector<pid_t> numbers;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry(directory, gone), end; !gone && entry != end;
       entry.increment(gone))
    if (const auto number = leading_number(entry->path().filename().native()))
      numbers.push_back(static_cast<pid_t>(number));
  return numbers;
}

// Finds the children through all processes' parents: a kernel without CONFIG_PROC_CHILDREN lists no children.
std::vector<pid_t> children_by_parent(pid_t process) {
  std::vector<pid_t> children = all_processes();
  std::erase_if(children, [process](pid_t child) {
    const auto facts = process_facts(child);
    return !facts || facts->parent != process;
  });
  return children;
}

}  // namespace

std::optional<ProcessFacts> process_facts(pid_t process) {
  const auto stat = read_proc_file(fmt::format("/proc/{}/stat", process));
  if (!stat) return std::nullopt;
  const std::size_t name_end = stat->rfind(')');  // a program's name may itself hold blanks and brackets
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat->substr(name_end + 1));
  std::string skipped;
  const auto skip = [&](int count) {
    while (count-- > 0) fields >> skipped;
  };
  ProcessFacts facts;
  double ticks[4] = {};
  fields >> facts.state >> facts.parent;
  skip(9);
  for (double& time : ticks) fields >> time;
  skip(4);
  fields >> facts.began;
  if (!fields) return std::nullopt;
  static const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  facts.user_s = ticks[0] / ticks_per_second;
  facts.system_s = ticks[1] / ticks_per_second;
  facts.ended_user_s = ticks[2] / ticks_per_second;
  facts.ended_system_s = ticks[3] / ticks_per_second;
  return facts;
}

std::vector<pid_t> all_processes() {
  return numbered_in("/proc");
}

std::vector<pid_t> threads_of(pid_t process) {
  return numbered_in(fmt::format("/proc/{}/task", process));
}

std::vector<pid_t> children_of(pid_t process) {
  static const bool kernel_lists_them = ::access("/proc/thread-self/children", F_OK) == 0;
  if (!kernel_lists_them) return children_by_parent(process);
  std::vector<pid_t> children;
  for (const pid_t thread : threads_of(process)) {
    std::istringstream list(
        read_proc_file(fmt::format("/proc/{}/task/{}/children", process, thread)).value_or(""));
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> process_tree(std::span<const pid_t> roots) {
  std::vector<pid_t> tree;
  for (const pid_t root : roots)
    if (process_facts(root)) tree.push_back(root);
  for (std::size_t i = 0; i < tree.size(); ++i)
    for (const pid_t child : children_of(tree[i]))
      if (std::ranges::find(tree, child) == tree.end()) tree.push_back(child);
  return tree;
}

}  // namespace joust
