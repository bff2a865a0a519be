// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace joust {

// A control group and the place of its files in this process's view.
struct ControlGroup {
  std::string folder;  // folder of its files, with a slash at the end
  std::string name;    // its name in /proc: "/user.slice"
  int version;         // version of control groups: 1 or 2, which have different file names
};

// Returns the groups of this process that have the controller ("cpu", "memory"), and their ancestors up to
// the root, each before its parent: a group is limited by its own settings and by those of its ancestors. In
// a container the process's own group is often mounted as the root, while /proc names the group as on the
// host, so folders may not exist. `proc` and `cgroups` are the mount points of those file systems.
std::vector<ControlGroup> control_groups(const std::string& proc, const std::string& cgroups,
                                         const std::string& controller);

}  // namespace joust
