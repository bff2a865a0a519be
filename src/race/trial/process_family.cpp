// SPDX-License-Identifier: MIT
#include "race/trial/process_family.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <string_view>
#include <thread>
#include <utility>

#include "base/system/process.hpp"
#include "measure/proc_file.hpp"
#include "measure/processes.hpp"

namespace joust::race {
namespace {

constexpr double kMostLost = 0.03;  // of the sum

// Each process that has waited for others counts their user and system time in whole ticks.
double resolution_s(std::size_t processes) {
  static const double tick_s = 1 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return 2 * tick_s * static_cast<double>(processes + 1);
}

}  // namespace

double FamilyClock::read_s(std::span<const pid_t> processes, double ended_s) {
  std::map<pid_t, double> now_s;
  for (const pid_t process : processes) {
    const auto before = last_s_.find(process);
    const double before_s = before == last_s_.end() ? 0 : before->second;
    const double here_s = cpu_time_s(process).value_or(before_s);
    if (here_s < before_s) gone_s_ += before_s;  // another process has its number
    now_s.emplace(process, here_s);
  }
  for (const auto& [process, used_s] : last_s_)
    if (!now_s.contains(process)) gone_s_ += used_s;
  last_s_ = std::move(now_s);
  ended_s_ = ended_s;
  sum_s_ = ended_s;
  for (const auto& [process, used_s] : last_s_) sum_s_ += used_s;
  return sum_s_;
}

std::string FamilyClock::why_wrong() const {
  const double lost_s = gone_s_ - ended_s_;
  if (lost_s <= std::max(kMostLost * (sum_s_ + lost_s), resolution_s(last_s_.size()))) return {};
  return fmt::format(
      "at least {:.3g} s of {:.3g} s of its CPU time are lost, as no process waited for processes that ended",
      lost_s, sum_s_ + lost_s);
}

bool ignores_ends(std::span<const pid_t> processes) {
  constexpr unsigned long long kChildEnds = 1ULL << (SIGCHLD - 1);
  return std::ranges::any_of(processes, [](pid_t process) {
    const std::string status = read_proc_file(fmt::format("/proc/{}/status", process)).value_or("");
    const std::string_view ignored = field_of(status, "SigIgn:").value_or("");
    unsigned long long signals = 0;
    std::from_chars(ignored.data(), ignored.data() + ignored.size(), signals, 16);
    return (signals & kChildEnds) != 0;
  });
}

Duration most_time(const LimitPlan& limits, const LoadPlan& load) {
  using std::chrono::seconds;
  if (limits.trial_timeout) return *limits.trial_timeout;
  if (!load.messages)
    return limits.connect_timeout.value_or(seconds(30)) + load.warmup + load.duration +
           limits.request_timeout.value_or(seconds(5)) + seconds(10);
  return seconds(120) + limits.request_timeout.value_or(Duration{}) + load.warmup +
         pause_of(load) * static_cast<std::int64_t>(*load.messages);
}

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
