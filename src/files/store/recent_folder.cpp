// SPDX-License-Identifier: MIT
#include "files/store/recent_folder.hpp"

#include "files/store/name.hpp"

namespace joust {

std::optional<Parent> RecentFolder::find(std::string_view name) const {
  const auto [path, last] = split_name(name);
  const std::lock_guard lock(mutex_);
  if (path != path_) return std::nullopt;
  auto handle = handle_.lock();
  if (!handle) return std::nullopt;
  return Parent{std::move(handle), std::string(last)};
}

void RecentFolder::keep(std::string_view name, const Parent& parent) {
  const std::lock_guard lock(mutex_);
  path_ = split_name(name).folder;
  handle_ = parent.fd;
}

void RecentFolder::forget() {
  const std::lock_guard lock(mutex_);
  handle_.reset();
}

}  // namespace joust
