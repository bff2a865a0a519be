// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>

#include <cstddef>

#include "engines/running.hpp"

namespace joust::test {

// Lowers the limit of descriptors to so many more than are open.
class DescriptorsLeft {
 public:
  explicit DescriptorsLeft(std::size_t left) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit tight = before_;
    tight.rlim_cur = open_descriptors() + left;
    ::setrlimit(RLIMIT_NOFILE, &tight);
  }
  ~DescriptorsLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorsLeft(const DescriptorsLeft&) = delete;
  DescriptorsLeft& operator=(const DescriptorsLeft&) = delete;

 private:
  rlimit before_{};
};

}  // namespace joust::test
