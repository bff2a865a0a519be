// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/check.hpp"
#include "base/fd.hpp"

namespace joust::race {

// A temporary file to be written by a child, removed with its owner.
class ResultFile {
 public:
  ResultFile() : path_(std::filesystem::temp_directory_path() / "joust-XXXXXX") {
    file_ = Fd(checked(::mkstemp(path_.data()), "mkstemp({})", path_));
  }
  ~ResultFile() { ::unlink(path_.c_str()); }
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  const std::string& path() const { return path_; }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
  Fd file_;
};

}  // namespace joust::race
