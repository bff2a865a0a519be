// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "joust/time.hpp"
#include "measure/usage.hpp"

namespace joust::race {

// The program to be executed.
struct ChildCommand {
  std::string program;             // a path
  std::vector<std::string> words;  // argv, its name first
  std::vector<int> cpus{};         // pinned to these before it starts; empty: not pinned
};

// A program in a process group of its own. Its output is collected. The destructor kills the whole group, and
// the kernel kills the program when this process dies. One thread.
class Child {
 public:
  // Starts the program. `before_exec` runs in this process between fork and exec, with the child's process
  // id, to attach a counter. Throws std::system_error if no process can be made.
  explicit Child(const ChildCommand& command, const std::function<void(pid_t)>& before_exec = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void send(int number, int value = 0) const;  // to the program only; sigqueue(3) has the value
  void send_group(int number) const;           // to all processes of its group

  // After a SIGSTOP: returns when all threads of the program have stopped, it has ended, or at the deadline.
  void wait_until_stopped(Time deadline) const;

  bool ended() const { return end_.has_value(); }
  int exit_code() const;             // -1 unless it has exited
  std::string how_it_ended() const;  // "exit code 1", "signal 11 (Segmentation fault)"
  // Of the program that has ended, with the processes that it has waited for; without its peak of memory.
  const std::optional<Usage>& usage() const { return usage_; }

  std::optional<std::string> take_line();       // the next complete line of its standard output, if any
  std::vector<std::string> last_words() const;  // the end of its standard error

  // Waits until a child has written something or ended, `stop` (a descriptor, or -1) is readable, or the
  // deadline has passed; collects the output.
  static void wait_any(std::span<Child* const> children, int stop, Time deadline);

 private:
  struct End {
    bool exited;  // true: with this exit code; false: by this signal
    int number;
  };
  void drain(Fd& pipe, std::string& into);
  void look_for_end();

  pid_t pid_ = -1;
  Fd process_, output_, errors_;
  std::string said_, complained_;
  std::deque<std::string> lines_;
  std::optional<End> end_;
  std::optional<Usage> usage_;
};

}  // namespace joust::race
