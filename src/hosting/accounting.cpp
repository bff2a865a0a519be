// SPDX-License-Identifier: MIT
#include "hosting/accounting.hpp"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/fd.hpp"
#include "base/limits.hpp"
#include "engines/engine.hpp"
#include "measure/proc_file.hpp"

namespace joust {
namespace {

constexpr std::uint64_t kLeast = 64 << 20;
// The number of connections below which giving memory back is not worth its time.
constexpr std::size_t kMany = 256;
// Giving memory back may take one in so many parts of the time: where it is enough, and where it is not.
constexpr int kEnough = 3, kInVain = 10;
// The longest time in which ended connections give their memory back.
constexpr Duration kGivesBack = std::chrono::seconds(1);

// Returns a limit of connections below that of open files. So the limit of connections is reached first, for
// which the addresses are known.
std::uint64_t most_by_descriptors() {
  const std::uint64_t files = descriptor_limit().rlim_cur;
  return std::max<std::uint64_t>(files - files / 8, 17) - 16;
}

// Returns freed memory to the system. The allocator keeps it for later, which is useless after thousands of
// connections have ended.
void give_memory_back() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace

std::uint64_t own_memory() {
  const std::string status = read_proc_file("/proc/self/status").value_or("");
  return 1024 * leading_number(field_of(status, "RssAnon:").value_or(""));
}

// Opens a file to see how many descriptors are in use: the kernel gives the lowest free number.
bool few_descriptors_left() {
  const std::uint64_t files = descriptor_limit().rlim_cur;
  const Fd lowest(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (lowest.get() < 0) return errno == EMFILE || errno == ENFILE;
  return static_cast<std::uint64_t>(lowest.get()) >= files - files / 16;
}

bool Watch::look() noexcept {
  if (is_calm_ && calls_++ % kCallsOfCalm != 0) return false;
  try {
    std::uint64_t used = own_memory();
    is_calm_ = used < limit_ - room_ / 2;
    const Time began = Clock::now();
    if (used > limit_ && began >= gives_back_at_) {
      give_memory_back();  // memory of connections that have ended may be enough
      used = own_memory();
      // It takes long, and the loop may be the one that calls.
      const Time now = Clock::now();
      gives_back_at_ = now + (used > limit_ ? kInVain : kEnough) * (now - began);
    }
    const bool few_descriptors = few_descriptors_left();
    look(used, few_descriptors, began);
    return used > limit_ || few_descriptors;
  } catch (const std::bad_alloc&) {
    return true;  // the next call may find the memory for it
  }
}

void Watch::look(std::uint64_t used, bool few_descriptors, Time now) {
  const std::size_t open = account_.connections().held();
  most_open_ = std::max(most_open_, open);
  if (most_open_ >= kMany && open <= most_open_ / 2) {
    give_memory_back();
    most_open_ = open;
  }
  if (few_descriptors) account_.short_of_places(now);
  look_at_memory(used, now);
}

void Watch::look_at_memory(std::uint64_t used, Time now) {
  if (used <= limit_) return;
  // If the remaining connections do not explain the used memory, it is that of ended ones, and no more are
  // ended for a while.
  const bool explained = account_.connections().memory_of_staying() >= room_ / 8;
  if (!explained && now < ended_ + kGivesBack) return;
  ended_ = now;
  // The remaining connections fill memory while others end, so more are ended than would be enough at the
  // moment.
  const std::uint64_t goal = limit_ - room_ / 4;
  account_.short_of_memory(static_cast<double>(used - goal) / static_cast<double>(used));
}

Accounting::Accounting(const Engine& engine, unsigned threads, const Limits& limits, Tally& tally) {
  // Peers of a message library have no socket of their own that could be shut down.
  const bool of_library = engine.delivery.by_message() && engine.transport != Transport::datagram;
  if (engine.separate_processes || engine.in_process || of_library) return;
  account_.emplace(std::min<std::uint64_t>(limits.connections, most_by_descriptors()), tally);
  const std::uint64_t room = limits.memory.value_or(std::max(available_memory().bytes / 4, kLeast));
  watch_.emplace(*account_, room, own_memory());
  if (!engine.does_chores || threads > 1) watching_.emplace(Hosting::kChoreEvery, [this] { watch_->look(); });
}

}  // namespace joust
