// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace joust::report {

// Compares a report with a file in tests/golden. After a change that is meant, approve it and look at what
// changed:
//   JOUST_APPROVE=1 build/release/tests/report_tests && git diff tests/golden
inline void expect_golden(const std::string& text, const std::string& name) {
  const std::string path = std::string(JOUST_SOURCE_DIR) + "/tests/golden/" + name;
  if (std::getenv("JOUST_APPROVE") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << "to approve: JOUST_APPROVE=1 build/release/tests/report_tests";
}

}  // namespace joust::report
