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

namespace joust::race {

// What is executed, and where.
struct ChildCommand {
  std::string program;             // a path
  std::vector<std::string> words;  // argv, its name first
  std::vector<int> cpus{};         // pinned to these before it starts; empty: not pinned
};

// A program running in a process group of its own, with its output collected. Ends with its owner: the
// destructor kills the whole group, and the kernel kills it when this process dies. One thread.
class Child {
 public:
  // Starts the program. `before_exec` runs in this process between fork and exec, with the child's id: the
  // moment to attach a counter. Throws std::system_error when no process can be had.
  explicit Child(const ChildCommand& command, const std::function<void(pid_t)>& before_exec = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void send(int number) const;        // to the program itself
  void send_group(int number) const;  // to everything it has started too

  bool ended() const { return end_.has_value(); }
  int exit_code() const;             // -1 unless it has exited by itself
  std::string how_it_ended() const;  // "exit code 1", "signal 11 (Segmentation fault)"

  std::optional<std::string> take_line();  // of its standard output, in order; nothing when none is complete
  std::vector<std::string> last_words() const;  // the end of its standard error

  // Waits until one of the children has said something or ended, `stop` (a descriptor, or -1) is readable, or
  // the deadline has come; takes in what there is.
  static void wait_any(std::span<Child* const> children, int stop, Time deadline);

 private:
  struct End {
    bool exited;  // by itself, with this code; otherwise by this signal
    int number;
  };
  void drain(Fd& pipe, std::string& into);
  void look_for_end();

  pid_t pid_ = -1;
  Fd process_, output_, errors_;
  std::string said_, complained_;
  std::deque<std::string> lines_;
  std::optional<End> end_;
};

}  // namespace joust::race
