// SPDX-License-Identifier: MIT
#include "base/control_groups.hpp"

#include <fstream>
#include <sstream>

namespace joust {
namespace {

bool lists(const std::string& controllers, const std::string& name) {
  std::istringstream list(controllers);
  for (std::string one; std::getline(list, one, ',');)
    if (one == name) return true;
  return false;
}

}  // namespace

// Reads lines such as "0::/user.slice" (version 2) and "4:cpu,memory:/docker/1f" (version 1).
std::vector<ControlGroup> control_groups(const std::string& proc, const std::string& cgroups,
                                         const std::string& controller) {
  std::vector<ControlGroup> groups;
  std::ifstream file(proc + "/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const int version = controllers.empty() ? 2 : 1;
    if (version == 1 && !lists(controllers, controller)) continue;
    const std::string mount = version == 2 ? cgroups : cgroups + "/" + controller;
    std::string group = line.substr(second + 1);
    // Skips the root, or a group outside of this process's namespace.
    if (!group.starts_with('/') || group == "/" || group.contains("/..")) group.clear();
    for (; !group.empty(); group.resize(group.find_last_of('/')))
      groups.push_back({mount + group + "/", group, version});
    groups.push_back({mount + "/", "/", version});
  }
  return groups;
}

}  // namespace joust
