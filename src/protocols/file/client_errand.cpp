// SPDX-License-Identifier: MIT
#include "protocols/file/client_errand.hpp"

#include <algorithm>
#include <random>

namespace joust::file {
namespace {

std::uint64_t random_number() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

// Range number `i` when `size` bytes are cut into `count`: as even as can be.
ByteRange cut(std::uint64_t size, std::uint64_t count, std::uint64_t i) {
  const std::uint64_t each = size / count, larger = size % count;
  return {.offset = each * i + std::min(i, larger), .size = each + (i < larger ? 1 : 0)};
}

}  // namespace

Errand::Errand(Orders orders, LoadRun& run, TransferEnds& ends)
    : orders_(std::move(orders)),
      run_(run),
      ends_(ends),
      team_size_(std::min<std::uint64_t>(orders_.segments, run.plan().connections)),
      teams_((run.plan().connections + team_size_ - 1) / team_size_),
      first_id_(random_number()) {
  for (std::uint64_t i = 0; i < run.plan().connections; ++i) ++team(i).members;
  if (orders_.operation == Operation::put)
    set_facts({.size = ends.source().version.size, .digest = ends.source().digest});
}

void Errand::set_facts(const Facts& facts) {
  facts_ = facts;
  facts_known_.store(true, std::memory_order_release);
}

// A file has no more ranges than bytes, but one.
std::uint64_t Errand::segments() const {
  return std::clamp<std::uint64_t>(facts_.size, 1, orders_.segments);
}

std::optional<Task> Errand::next(Team& team, bool recorded) {
  const auto& wanted = run_.plan().messages;
  auto& counter = recorded ? team.next : team.next_unrecorded;
  const std::uint64_t number = counter.fetch_add(1);
  const std::uint64_t transfer = number / segments();
  if (recorded && wanted && transfer >= *wanted) return std::nullopt;
  return Task{transfer, cut(facts_.size, segments(), number % segments()), recorded};
}

FileAnswer<File*> Errand::sink(Team& team) {
  const std::lock_guard lock(team.mutex);
  if (!team.sink) {
    auto sink = ends_.sink(facts_.size);
    if (!sink) return std::unexpected(sink.error());
    team.sink = std::move(*sink);
  }
  return &team.sink->file();
}

std::uint64_t Errand::upload_id(std::uint64_t connection, const Task& task) const {
  return first_id_ + (connection / team_size_ << 32) + task.transfer * 2 + (task.recorded ? 1 : 0);
}

std::uint64_t Errand::transfers() const {
  std::uint64_t sum = 0;
  for (const Team& team : teams_) sum += team.done / segments();
  return sum;
}

}  // namespace joust::file
