// SPDX-License-Identifier: MIT
#include "store/quota.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace joust {
namespace {

// The limit of separate pieces, which ranges leave when they are given back out of order.
constexpr std::size_t kMostPiecesOfQuota = 8192;

std::unexpected<FileRefusal> refuse(std::uint64_t wanted, const Quota& quota) {
  return std::unexpected(
      FileRefusal{FileError::no_space, fmt::format("{} bytes are wanted, and {} of the server's {} are left",
                                                   wanted, quota.left(), quota.limit())});
}

}  // namespace

// Half of the largest number, so that sums do not overflow.
Quota::Quota(std::uint64_t limit) : limit_(std::min<std::uint64_t>(limit, INT64_MAX / 2)) {}

bool Quota::take(std::uint64_t bytes) {
  if (bytes > INT64_MAX) return false;
  const auto more = static_cast<std::int64_t>(bytes), limit = static_cast<std::int64_t>(limit_);
  std::int64_t used = used_->load();
  while (used <= limit - more)
    if (used_->compare_exchange_weak(used, used + more)) return true;
  return false;
}

std::uint64_t Quota::left() const {
  const std::int64_t left = static_cast<std::int64_t>(limit_) - used_->load();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, left));
}

FileAnswer<std::unique_ptr<QuotaShare>> QuotaShare::begin(Quota& quota, std::uint64_t size) {
  const std::uint64_t left = quota.left();
  if (left < kEntryBytes || size > left - kEntryBytes || !quota.take(kEntryBytes))
    return refuse(std::min(size, UINT64_MAX - kEntryBytes) + kEntryBytes, quota);
  return std::unique_ptr<QuotaShare>(new QuotaShare(quota));
}

QuotaShare::~QuotaShare() {
  quota_.give_back(taken_);
}

FileAnswer<void> QuotaShare::take(ByteRange part) {
  const std::uint64_t missing = part.size - ranges_.covered(part.offset, part.end());
  if (missing == 0) return {};
  if (ranges_.pieces() >= kMostPiecesOfQuota)
    return std::unexpected(FileRefusal{FileError::busy, "too many loose ranges"});
  if (!quota_.take(missing)) return refuse(missing, quota_);
  taken_ += missing;
  ranges_.cover(part.offset, part.end());
  return {};
}

void QuotaShare::resume(ByteRange part) {
  const std::uint64_t more =
      taken_ - std::min(taken_, kEntryBytes + ranges_.covered(part.offset, part.end()));
  taken_ -= more;
  quota_.give_back(more);
  ranges_ = {};
  ranges_.cover(part.offset, part.end());
}

void QuotaShare::give_back(ByteRange part) {
  const std::uint64_t bytes = ranges_.covered(part.offset, part.end());
  ranges_.uncover(part.offset, part.end());
  taken_ -= bytes;
  quota_.give_back(bytes);
}

void QuotaShare::keep(ReplacedBytes replaced) {
  taken_ = 0;
  if (replaced) quota_.give_back(*replaced + kEntryBytes);
}

void KeptShares::keep(std::string_view name, std::unique_ptr<QuotaShare> share, std::uint64_t there) {
  share->resume({0, there});
  const std::lock_guard lock(mutex_);
  shares_.insert_or_assign(std::string(name), std::move(share));
}

std::unique_ptr<QuotaShare> KeptShares::take(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = shares_.find(name);
  if (found == shares_.end()) return nullptr;
  auto share = std::move(found->second);
  shares_.erase(found);
  return share;
}

}  // namespace joust
