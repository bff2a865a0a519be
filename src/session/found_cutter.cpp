// SPDX-License-Identifier: MIT
#include "session/found_cutter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace joust {

CutStep FoundCutter::next(Bytes chunk) {
  if (std::exchange(held_is_message_, false)) held_.clear();
  const std::size_t before = held_.size();
  if (before > 0) held_.insert(held_.end(), chunk.begin(), chunk.end());
  const Bytes all = before > 0 ? Bytes(held_) : chunk;
  const Finder::Found found = finder_->find(all.first(std::min(all.size(), largest_)));
  if (!found.complaint.empty()) return malformed(std::string(found.complaint));
  if (found.size == 0) {
    if (all.size() >= largest_ || found.least > largest_)
      return malformed(fmt::format("a message has more than {} bytes", largest_));
    if (before == 0) held_.assign(chunk.begin(), chunk.end());
    return {CutStep::Status::need_more, chunk.size(), {}, {}};
  }
  finder_->reset();
  if (before == 0)
    return {CutStep::Status::message, found.size, all.first(found.size), all.first(found.size)};
  held_.resize(found.size);
  held_is_message_ = true;
  return {CutStep::Status::message, found.size - before, held_, held_};
}

CutStep FoundCutter::malformed(std::string complaint) {
  complaint_ = std::move(complaint);
  return {CutStep::Status::malformed, 0, {}, {}};
}

}  // namespace joust
