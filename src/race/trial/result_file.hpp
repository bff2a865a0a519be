// SPDX-License-Identifier: MIT
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "race/trial/temporary_folder.hpp"

namespace joust::race {

// A temporary file to be written by a child, removed with its owner.
class ResultFile {
 public:
  const std::string& path() const { return path_; }
  // Returns the child's output; empty as long as the child has written nothing.
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/result.json";
};

}  // namespace joust::race
