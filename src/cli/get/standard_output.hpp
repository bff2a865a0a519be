// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace joust {

// The folder of `get -o -`, in the directory for temporary files, which is removed with this object. The file
// is fetched into it, and copied to standard output once all of it has arrived and is verified: written bytes
// cannot be taken back.
class OutputSpool {
 public:
  OutputSpool();  // throws std::system_error, and UsageError if standard output is closed
  ~OutputSpool();
  OutputSpool(const OutputSpool&) = delete;
  OutputSpool& operator=(const OutputSpool&) = delete;

  const std::string& folder() const { return folder_; }
  static constexpr auto kFile = "file";  // name of the file in the folder

  void copy() const;  // throws OutputError if standard output cannot be written, and std::system_error

 private:
  std::string folder_;
};

}  // namespace joust
