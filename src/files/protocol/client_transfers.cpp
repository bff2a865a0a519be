// SPDX-License-Identifier: MIT
#include "files/protocol/client_transfers.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"

namespace joust::file {
namespace {

// Returns range number `i` of `count` ranges of `size` bytes, divided as evenly as possible.
ByteRange cut(std::uint64_t size, std::uint64_t count, std::uint64_t i) {
  const std::uint64_t each = size / count, larger = size % count;
  return {.offset = each * i + std::min(i, larger), .size = each + (i < larger ? 1 : 0)};
}

}  // namespace

Transfers::Transfers(TransferOptions options, LoadRun& run, TransferFiles& local)
    : options_(std::move(options)),
      run_(run),
      local_(local),
      group_size_(std::min<std::uint64_t>(options_.segments, run.plan().connections)),
      groups_((run.plan().connections + group_size_ - 1) / group_size_),
      first_id_(random_number()) {
  for (std::uint64_t i = 0; i < run.plan().connections; ++i) ++group(i).members;
  if (options_.operation == Operation::put)
    set_facts({.size = local.source().version.size, .digest = local.source().digest});
}

void Transfers::set_facts(const Facts& facts) {
  facts_ = facts;
  facts_known_.store(true, std::memory_order_release);
}

// Returns at most one range for each byte, and at least one range.
std::uint64_t Transfers::segments() const {
  return std::clamp<std::uint64_t>(facts_.size, 1, options_.segments);
}

std::optional<RangeTask> Transfers::next(ConnectionGroup& group, bool recorded) {
  const auto& wanted = run_.plan().messages;
  auto& counter = recorded ? group.next : group.next_unrecorded;
  const RangeTask next = task(counter.fetch_add(1), recorded);
  if (recorded && wanted && next.transfer >= *wanted) return std::nullopt;
  return next;
}

std::optional<RangeTask> Transfers::next_in_turn(ConnectionGroup& group, Turns::Number turn, bool recorded) {
  const std::lock_guard lock(group.mutex);
  if (std::exchange(group.turn, turn) != turn) group.left = run_.messages_in_turn() * segments();
  if (group.left == 0) return std::nullopt;
  --group.left;
  return task(group.next.fetch_add(1), recorded);
}

RangeTask Transfers::task(std::uint64_t number, bool recorded) const {
  return {number / segments(), cut(facts_.size, segments(), number % segments()), recorded};
}

FileAnswer<File*> Transfers::sink(ConnectionGroup& group) {
  const std::lock_guard lock(group.mutex);
  if (!group.sink) {
    auto sink = local_.sink(facts_.size);
    if (!sink) return std::unexpected(sink.error());
    group.sink = std::move(*sink);
  }
  return &group.sink->file();
}

std::uint64_t Transfers::upload_id(std::uint64_t connection, const RangeTask& task) const {
  return first_id_ + (connection / group_size_ << 32) + task.transfer * 2 + (task.recorded ? 1 : 0);
}

std::uint64_t Transfers::completed() const {
  std::uint64_t sum = 0;
  for (const ConnectionGroup& group : groups_) sum += group.done / segments();
  return sum;
}

}  // namespace joust::file
