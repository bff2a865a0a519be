// SPDX-License-Identifier: MIT
#include "hosting/accounting.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <new>

#include "base/available.hpp"
#include "base/descriptor_limit.hpp"
#include "engines/engine.hpp"
#include "measure/proc_file.hpp"

namespace joust {
namespace {

constexpr std::uint64_t kLeast = 64 << 20;
// Below so many connections there is not much to give back.
constexpr std::size_t kMany = 256;
// To give memory back takes the locks of the allocator for a while.
constexpr Duration kBetween = std::chrono::milliseconds(500);

// So that the limit is that of connections, where the addresses are known, and not that of open files.
std::uint64_t most_by_descriptors() {
  const std::uint64_t files = descriptor_limit().rlim_cur;
  return std::max<std::uint64_t>(files - files / 8, 17) - 16;
}

// The allocator keeps what is freed for later, which thousands of connections that are gone do not need.
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

void MemoryWatch::look() noexcept {
  try {
    std::uint64_t used = own_memory();
    if (const Time now = Clock::now(); used > limit_ && now >= gave_back_ + kBetween) {
      give_memory_back();  // which may be enough
      gave_back_ = now;
      used = own_memory();
    }
    look(used, Clock::now());
  } catch (const std::bad_alloc&) {
    // The next look may find the memory for it.
  }
}

void MemoryWatch::look(std::uint64_t used, Time now) {
  const std::size_t open = account_.connections().held();
  most_open_ = std::max(most_open_, open);
  if (most_open_ >= kMany && open <= most_open_ / 2) {
    give_memory_back();
    most_open_ = open;
  }
  if (used <= limit_ || open == 0) return;
  // As if all of them had taken the same.
  account_.short_of_memory(static_cast<double>(used - limit_) / static_cast<double>(used), now);
}

Accounting::Accounting(const Engine& engine, const Limits& limits, Tally& tally) {
  // Peers of a library of messages have no socket each that could be shut down.
  const bool of_library = engine.delivery.by_message() && engine.transport != Transport::datagram;
  if (engine.separate_processes || engine.in_process || of_library) return;
  account_.emplace(std::min<std::uint64_t>(limits.connections, most_by_descriptors()), tally);
  const std::uint64_t room = limits.memory.value_or(std::max(available_memory().bytes / 4, kLeast));
  memory_.emplace(*account_, own_memory() + room);
  watching_.emplace(MemoryWatch::kPeriod, [this] { memory_->look(); });
}

}  // namespace joust
