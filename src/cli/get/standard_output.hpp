// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace joust {

// `get -o -`: a file is fetched into a folder of the temporary directory, which is removed with this object,
// and goes to standard output once all of it is there and verified: a byte that was written cannot be taken
// back.
class OutputSpool {
 public:
  OutputSpool();  // throws std::system_error, and UsageError if standard output is closed
  ~OutputSpool();
  OutputSpool(const OutputSpool&) = delete;
  OutputSpool& operator=(const OutputSpool&) = delete;

  const std::string& folder() const { return folder_; }
  static constexpr auto kFile = "file";  // its name in there

  void copy() const;  // throws OutputError where standard output does not take it, and std::system_error

 private:
  std::string folder_;
};

}  // namespace joust
