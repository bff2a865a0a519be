// SPDX-License-Identifier: MIT
#include "files/transfer/folder_order.hpp"

#include <utility>

namespace joust::transfer {

bool FolderOrder::may_ask(const void* session) {
  if (asked_ > 0 && session_ != session) return false;
  session_ = session;
  ++asked_;
  return true;
}

bool FolderOrder::answered(std::optional<std::size_t> close) {
  --asked_;
  if (close) closed_.push_back(*close);
  return --left_ == 0;
}

std::size_t FolderOrder::begin_to_close(bool has_failed) {
  if (has_failed) closed_.clear();
  last_ = std::exchange(closed_, {});
  return last_.size();
}

std::optional<std::size_t> FolderOrder::next_to_close(const void* session) {
  if (last_.empty() || !may_ask(session)) return std::nullopt;
  const std::size_t item = last_.back();
  last_.pop_back();
  return item;
}

}  // namespace joust::transfer
