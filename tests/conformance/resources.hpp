// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "joust/time.hpp"

namespace joust::conformance {

// What a process holds that an engine could leave behind.
struct Resources {
  std::vector<std::string> descriptors;  // "7 -> socket:[4242]"
  std::size_t threads = 0;
  bool children = false;

  static Resources now();

  // How the process differs from this, in words; nothing as soon as it does not. A joined thread and a closed
  // ring take the kernel a moment, which is waited for, up to kPatience.
  std::vector<std::string> not_back() const;
  void expect_back() const;  // fails the test if it does
};

std::size_t resident_bytes();  // this process

// Whether memory is a sanitizer's to keep: resident_bytes() then says little about the program.
consteval bool memory_is_instrumented() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

// Lowers the number of descriptors the process may have, so that it can be brought to have none left.
class FewDescriptors {
 public:
  FewDescriptors();
  ~FewDescriptors();
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  void take_all();
  void free_all();

 private:
  std::size_t limit_before_ = 0;
  std::vector<int> taken_;
};

}  // namespace joust::conformance
