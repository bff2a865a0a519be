// SPDX-License-Identifier: MIT
#include "race/trial/process_family.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>
#include <utility>

#include "base/system/process.hpp"
#include "measure/process_tree.hpp"

namespace joust::race {
namespace {

constexpr Duration kLookForStop = std::chrono::microseconds(100);
// The longest wait for killed processes. A process that waits for a device ends only when the device answers.
constexpr Duration kLongestKill = std::chrono::seconds(5);
constexpr int kReadings = 2;  // readings of the process tree before it is taken for complete

// Returns the children of this process that are no orphans to be adopted: the processes of families, and
// children that this process had before its first family and did not start itself.
std::vector<pid_t>& known_children() {
  static std::vector<pid_t> children;
  return children;
}

bool has_ended(pid_t process) {
  const auto facts = process_facts(process);
  return !facts || facts->ended();
}

// A process in an uninterruptible wait runs no code of its own, and a signal to stop takes effect when the
// wait ends. A shell waits in this way until the child of its vfork() calls exec, which a stopped child does
// not.
bool is_at_rest(pid_t process) {
  const auto facts = process_facts(process);
  return !facts || facts->ended() || facts->stopped() || facts->waits_uninterruptibly();
}

}  // namespace

ProcessFamily::ProcessFamily(pid_t program) : program_(program) {
  if (adopt_orphans()) known_children() = children_of(::getpid());
  if (std::ranges::count(known_children(), program) == 0) known_children().push_back(program);
}

ProcessFamily::~ProcessFamily() {
  if (program_ < 0) return;
  kill();
  std::erase_if(known_children(), [this](pid_t child) {
    return child == program_ || std::ranges::count(orphans_, child) != 0;
  });
}

ProcessFamily::ProcessFamily(ProcessFamily&& other) noexcept
    : program_(std::exchange(other.program_, -1)),
      orphans_(std::move(other.orphans_)),
      ended_orphans_(other.ended_orphans_) {}

ProcessFamily& ProcessFamily::operator=(ProcessFamily&& other) noexcept {
  std::swap(program_, other.program_);
  std::swap(orphans_, other.orphans_);
  std::swap(ended_orphans_, other.ended_orphans_);
  return *this;
}

void ProcessFamily::adopt() {
  std::erase_if(orphans_, [this](pid_t orphan) {
    rusage used{};
    if (::wait4(orphan, nullptr, WNOHANG, &used) != orphan) return false;
    ended_orphans_ = ended_orphans_ + usage_from(used);
    std::erase(known_children(), orphan);
    return true;
  });
  for (const pid_t child : children_of(::getpid())) {
    if (std::ranges::count(known_children(), child) != 0) continue;
    known_children().push_back(child);
    orphans_.push_back(child);
  }
}

std::vector<pid_t> ProcessFamily::members() {
  adopt();
  std::vector<pid_t> roots{program_};
  roots.insert(roots.end(), orphans_.begin(), orphans_.end());
  return process_tree(roots);
}

// Returns the processes that have not ended. A process that ends while the tree is read hands its children
// over to this process, and a reading may find them in neither place. Such a process already counts as ended,
// so a second reading finds its children.
std::vector<pid_t> ProcessFamily::running() {
  std::vector<pid_t> processes;
  for (int reading = 0; reading < kReadings && processes.empty(); ++reading) {
    processes = members();
    std::erase_if(processes, has_ended);
  }
  return processes;
}

void ProcessFamily::send(int number) {
  // Reads the tree first: a process that continues may end at once, and a reading meanwhile may miss its
  // children.
  const std::vector<pid_t> processes = members();
  ::kill(-program_, number);
  for (const pid_t process : processes)
    if (::getpgid(process) != program_) ::kill(process, number);
}

void ProcessFamily::stop(Time deadline) {
  ::kill(-program_, SIGSTOP);
  std::vector<pid_t> told;
  for (int reading = 0; reading < kReadings && Clock::now() < deadline; ++reading)
    for (const pid_t process : members()) {
      if (std::ranges::count(told, process) != 0) continue;
      reading = -1;  // it may have started another process before it received the signal
      told.push_back(process);
      ::kill(process, SIGSTOP);
    }
  while (!std::ranges::all_of(told, is_at_rest) && Clock::now() < deadline)
    std::this_thread::sleep_for(kLookForStop);
}

void ProcessFamily::kill() {
  const Time deadline = Clock::now() + kLongestKill;
  ::kill(-program_, SIGKILL);
  for (std::vector<pid_t> left = running(); !left.empty() && Clock::now() < deadline; left = running()) {
    for (const pid_t process : left) ::kill(process, SIGKILL);
    std::this_thread::sleep_for(kLookForStop);
  }
  adopt();
}

double ProcessFamily::ended_cpu_s() {
  double sum_s = ended_orphans_.user_s + ended_orphans_.system_s;
  for (const pid_t process : members())
    if (const auto facts = process_facts(process)) sum_s += facts->ended_user_s + facts->ended_system_s;
  return sum_s;
}

}  // namespace joust::race
