// SPDX-License-Identifier: MIT
#include "cli/common/descriptors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <stdexcept>

#include "base/check.hpp"
#include "base/limits.hpp"
#include "cli/common/command.hpp"
#include "connection/account.hpp"
#include "engines/engine.hpp"
#include "files/store/upload/tree_storage.hpp"
#include "joust/limits.hpp"

namespace joust {
namespace {

constexpr std::uint64_t kSmall = 4096;  // a larger limit needs no warning, and counting would take long
constexpr std::uint64_t kSpare = 1;     // to accept a connection
// Descriptors of a client beside its connections: those that any engine opens for itself, the moved file with
// its journal and its folder, and those open while the file gets its name.
constexpr std::uint64_t kOfClient = 16;

std::uint64_t open_now(std::uint64_t limit) {
  std::uint64_t count = 0;
  for (std::uint64_t number = 0; number < limit; ++number)
    count += ::fcntl(static_cast<int>(number), F_GETFD) >= 0 ? 1 : 0;
  return count;
}

}  // namespace

void raise_descriptor_limit() {
  rlimit limit = descriptor_limit();
  limit.rlim_cur = limit.rlim_max;
  checked(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit(RLIMIT_NOFILE, {})", limit.rlim_max);
}

void ensure_descriptors(const std::string& where, std::uint64_t connections, const Engine& client) {
  constexpr std::uint64_t kOthers = 64;  // the loops' own files, and those open at the process's start
  const std::uint64_t dials = std::min<std::uint64_t>(connections, Limits{}.dials_at_once);
  const std::uint64_t needed = client.files_each * connections + client.files_of_dial * dials + kOthers;
  const std::uint64_t most = descriptor_limit().rlim_max;
  if (needed <= most) return;
  throw UsageError(fmt::format(
      "{}: {} connections need about {} open files, and a process may have {} here; raise that limit "
      "(ulimit -Hn) or ask for fewer connections",
      where, connections, needed, most));
}

DescriptorRoom::DescriptorRoom(std::size_t loops, bool threads_for_each)
    : loops_(loops),
      of_connection_(descriptors::kOfConnection + (threads_for_each ? descriptors::kOfPipe : 0)),
      limit_(descriptor_limit().rlim_cur) {}

bool DescriptorRoom::is_small() const {
  return limit_ < kSmall;
}

std::uint64_t DescriptorRoom::fixed(std::uint64_t own) const {
  return open_now(limit_) + own + descriptors::kOfNaming + descriptors::kOfPipe * loops_ + kSpare;
}

void DescriptorRoom::check(std::uint64_t own) const {
  if (!is_small()) return;
  const std::uint64_t needed = fixed(own) + of_connection_ + descriptors::kOfUpload;
  if (needed > limit_)
    throw std::runtime_error(
        fmt::format("{} open files (ulimit -n) are too few: one connection needs {} here, and each further "
                    "one {}; raise the limit, or try fewer loops (-t)",
                    limit_, needed, of_connection_ + descriptors::kOfUpload));
}

std::size_t DescriptorRoom::connections() const {
  if (!is_small()) return SIZE_MAX;
  const std::uint64_t files = descriptors::kOfUpload * descriptors::uploads_of(limit_) +
                              descriptors::kOfWhole * descriptors::waiting_of(limit_);
  const std::uint64_t taken = std::min(limit_, fixed(own_before()) + files);
  const std::size_t all = (limit_ - taken) / of_connection_;
  return std::max(all, spare_places(all) + 1) - spare_places(all);  // spare connections need descriptors too
}

std::size_t DescriptorRoom::uploads() const {
  return is_small() ? std::min<std::size_t>(connections(), descriptors::uploads_of(limit_)) : SIZE_MAX;
}

void check_first_connection(const Engine& engine) {
  const std::uint64_t limit = descriptor_limit().rlim_cur;
  if (limit >= kSmall || engine.transport != Transport::stream) return;
  const std::uint64_t of_process = engine.separate_processes ? 1 : 0;
  const std::uint64_t needed = open_now(limit) + engine.files_each + of_process;
  if (needed > limit)
    throw std::runtime_error(
        fmt::format("{} open files (ulimit -n) are too few: the first connection needs {}; raise the limit",
                    limit, needed));
}

std::uint64_t client_connections(const Engine& engine) {
  const std::uint64_t limit = descriptor_limit().rlim_cur;
  if (limit >= kSmall) return UINT64_MAX;
  const std::uint64_t fixed = open_now(limit) + kOfClient;
  const std::uint64_t each =
      engine.files_each + engine.files_of_dial + (engine.several_loops ? 0 : descriptors::kOfPipe);
  if (fixed + each > limit)
    throw std::runtime_error(
        fmt::format("{} open files (ulimit -n) are too few: one connection needs {} here; raise the limit",
                    limit, fixed + each));
  return (limit - fixed) / each;
}

}  // namespace joust
