// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace joust::test {

// A process of its own, forked at once. Its exit code is what `work` returns. It ends as the child of an
// engine does: without destructors of what was there before.
class Forked {
 public:
  static constexpr int kThrown = 99;

  explicit Forked(const std::function<int()>& work) : child_(::fork()) {
    if (child_ != 0) return;
    try {
      ::_exit(work());
    } catch (...) {
      ::_exit(kThrown);
    }
  }
  int exit_code() const {
    const int status = end();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int end() const {  // its status, as waitpid() has it: the signal of one that was killed
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    return status;
  }

 private:
  const pid_t child_;
};

}  // namespace joust::test
