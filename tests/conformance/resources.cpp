// SPDX-License-Identifier: MIT
#include "conformance/resources.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/check.hpp"
#include "conformance/peer.hpp"

namespace joust::conformance {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> open_descriptors() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the descriptor of the listing itself
    const fs::path what = fs::read_symlink(entry.path(), gone);
    if (!gone && !what.string().ends_with("/fd"))
      all.push_back(entry.path().filename().string() + " -> " + what.string());
  }
  std::ranges::sort(all);
  return all;
}

std::size_t running_threads() {
  const auto all = fs::directory_iterator("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace

Resources Resources::now() {
  // The thread sanitizer starts a thread of its own with the first std::thread: it must exist before the
  // first count.
  std::thread([] {}).join();
  return {open_descriptors(), running_threads(), has_children()};
}

Resources Resources::settled() {
  constexpr int kReadings = 5;  // that must be the same
  Resources last = now();
  for (int same = 0; same < kReadings;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Resources next = now();
    same = next.descriptors == last.descriptors && next.threads == last.threads ? same + 1 : 0;
    last = std::move(next);
  }
  return last;
}

std::vector<std::string> Resources::not_back() const {
  const auto as_before = [this](const Resources& after) {
    return after.descriptors == descriptors && after.threads <= threads && after.children == children;
  };
  const Time give_up = Clock::now() + kPatience;
  Resources after = now();
  while (!as_before(after) && Clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    after = now();
  }
  std::vector<std::string> left;
  std::ranges::set_difference(after.descriptors, descriptors, std::back_inserter(left));
  std::vector<std::string> lost;
  std::ranges::set_difference(descriptors, after.descriptors, std::back_inserter(lost));
  std::vector<std::string> words;
  if (!left.empty())
    words.push_back(fmt::format("{} descriptors left open, such as {}", left.size(), left.front()));
  if (!lost.empty()) words.push_back("closed a descriptor of somebody else's: " + lost.front());
  if (after.threads > threads)
    words.push_back(fmt::format("{} threads left running", after.threads - threads));
  if (after.children != children) words.emplace_back("children left behind");
  return words;
}

void Resources::expect_back() const {
  for (const std::string& difference : not_back()) ADD_FAILURE() << difference;
}

std::size_t resident_bytes() {
  std::size_t size = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

FewDescriptors::FewDescriptors() {
  rlimit limit{};
  checked(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit()");
  limit_before_ = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, 256);
  checked(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit({})", limit.rlim_cur);
}

void FewDescriptors::take_all(std::size_t but) {
  for (int copy = ::dup(STDERR_FILENO); copy >= 0; copy = ::dup(STDERR_FILENO)) taken_.push_back(copy);
  if (errno != EMFILE) throw std::system_error(errno, std::generic_category(), "dup()");
  for (; but > 0 && !taken_.empty(); --but, taken_.pop_back()) ::close(taken_.back());
}

void FewDescriptors::free_all() {
  for (const int descriptor : taken_) ::close(descriptor);
  taken_.clear();
}

FewDescriptors::~FewDescriptors() {
  free_all();
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit_before_;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace joust::conformance
