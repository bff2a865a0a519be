// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace joust {

// A control group as its files are seen here.
struct ControlGroup {
  std::string folder;  // of its files, with a slash at the end
  std::string name;    // as /proc has it: "/user.slice"
  int version;         // of control groups: 1 or 2, which have other file names
};

// The groups of this process that have the controller ("cpu", "memory"), and their ancestors up to the root,
// each before its parent: a group is limited by its own settings and by those of its ancestors. In a
// container the own group is often mounted as the root, while /proc names the group as on the host, so
// folders may not exist. `proc` and `cgroups` are where those file systems are mounted.
std::vector<ControlGroup> control_groups(const std::string& proc, const std::string& cgroups,
                                         const std::string& controller);

}  // namespace joust
