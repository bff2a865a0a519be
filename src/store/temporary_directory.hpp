// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace joust {

// A directory of one's own, gone with this object and with all that is in it. In memory where the system has
// such a place.
class TemporaryDirectory {
 public:
  TemporaryDirectory();  // throws std::system_error
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace joust
