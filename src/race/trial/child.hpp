// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "joust/time.hpp"
#include "measure/usage.hpp"
#include "race/model/result.hpp"
#include "race/trial/process_family.hpp"

namespace joust::race {

// The program to be executed.
struct ChildCommand {
  std::string program;             // path of the program
  std::vector<std::string> words;  // argv; the first word is the program's name
  std::vector<int> cpus{};         // pinned to these before it starts; empty: not pinned
  bool foreign = false;  // not a program of joust: its processes may leave its process group, as daemons do
  std::string ready{};   // a line of its standard output with this text shows that it is ready
};

// A program in a process group of its own, with all the processes that it starts. Collects its output. The
// destructor kills them all, and the kernel kills the program when this process dies. One thread.
class Child {
 public:
  // Starts the program. `before_exec` runs in this process between fork and exec, with the child's process
  // id, and may attach a counter. Throws std::system_error if no process can be made.
  explicit Child(const ChildCommand& command, const std::function<void(pid_t)>& before_exec = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  bool foreign() const { return foreign_; }
  // Returns the program and all processes that descend from it.
  std::vector<pid_t> processes();
  // Returns the CPU time of the processes that have ended and were waited for, in seconds; known
  // in whole clock ticks.
  double ended_cpu_s();

  void send(int number, int value = 0) const;  // to the program only; `value` as with sigqueue(3)
  void send_all(int number);                   // to all processes
  // Stops all processes. Returns when they have stopped or ended, or at the deadline.
  void stop_all(Time deadline);

  // True when the program has ended. For a foreign program, none of its processes may be left either.
  bool ended() const { return end_.has_value(); }
  int exit_code() const;             // the program's; -1 unless it has exited
  std::string how_it_ended() const;  // "exit code 1", "signal 11 (Segmentation fault)"
  // Returns the usage of the ended program, of the processes that it has waited for, and of orphans. The peak
  // of memory is left out.
  const std::optional<Usage>& usage() const { return usage_; }

  std::optional<std::string> take_line();  // the next complete line of its standard output, if any
  // Returns whether a line with the text ChildCommand::ready has been collected, taken or not.
  bool is_ready() const { return is_ready_; }
  // Returns the end of its standard error. A foreign program that wrote nothing there may have complained on
  // its standard output, whose last lines are returned then.
  std::vector<std::string> last_words() const;

  // Waits until a child has written something or ended, `stop` (a descriptor, or -1) is readable, or the
  // deadline has passed; collects the output.
  static void wait_any(std::span<Child* const> children, int stop, Time deadline);

 private:
  struct End {
    bool exited;  // true: with this exit code; false: by this signal
    int number;
  };
  void drain(Fd& pipe, std::string& into);
  void split_lines();
  void look_for_end();
  void wait_until_stopped(Time deadline) const;

  pid_t pid_ = -1;
  const bool foreign_;
  const std::string ready_;
  bool is_ready_ = false;
  ProcessFamily family_;
  Fd awaited_;  // the process whose end is awaited next
  Fd output_, errors_;
  std::string said_, complained_;
  std::deque<std::string> lines_;
  std::optional<End> program_end_, end_;
  std::optional<Usage> usage_;
};

// Readers of the documents that children write. They throw nlohmann::json::exception for a key that is
// missing or wrong, unless a comment says otherwise.

ChildFacts facts_from(const nlohmann::json& document);
Settings socket_from(const nlohmann::json& document);
std::map<std::string, std::uint64_t> counts_from(const nlohmann::json& object);

// Fills in the load's side of a trial from the document of `joust load --json`. Returns why the document
// cannot be read; nothing if it was.
std::optional<std::string> read_load(const std::string& text, Trial& trial);

}  // namespace joust::race
