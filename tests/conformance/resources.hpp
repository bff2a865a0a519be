// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "joust/time.hpp"
#include "sanitized.hpp"

namespace joust::conformance {

// The resources of a process that an engine could leak.
struct Resources {
  std::vector<std::string> descriptors;  // "7 -> socket:[4242]"
  std::size_t threads = 0;
  bool children = false;

  static Resources now();
  // Once nothing has changed for a moment: an engine may still be preparing threads for the next connection.
  static Resources settled();

  // The differences from the current state, in words. Waits up to kPatience for them to disappear, because
  // the kernel takes a moment to remove a joined thread or a closed ring.
  std::vector<std::string> not_back() const;
  void expect_back() const;  // fails the test if there are differences
};

std::size_t resident_bytes();  // of this process

using test::is_sanitized;  // with one, resident_bytes() says little about the program

// Lowers the limit of descriptors, so that a test can use them up.
class FewDescriptors {
 public:
  FewDescriptors();
  ~FewDescriptors();
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  void take_all(std::size_t but = 0);
  void free_all();

 private:
  std::size_t limit_before_ = 0;
  std::vector<int> taken_;
};

}  // namespace joust::conformance
