// SPDX-License-Identifier: MIT
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "net/address.hpp"

namespace joust {

// A folder that goes with the test.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "joust-net-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp() failed");
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  Endpoint socket(const std::string& name) const {
    return resolve("unix:" + file(name).string()).value().front();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace joust
