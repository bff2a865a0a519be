// SPDX-License-Identifier: MIT
#include "protocols/resp/store.hpp"

namespace joust::resp {

bool Store::set(std::string_view key, std::string_view value) {
  Part& part = part_of(key);
  const std::lock_guard lock(part.mutex);
  const auto found = part.values.find(key);
  const std::uint64_t before = found == part.values.end() ? 0 : bytes_of(key, found->second);
  const std::uint64_t after = bytes_of(key, value);
  if (after > before && !reserve(after - before)) return false;
  if (after < before) release(before - after);
  if (found == part.values.end()) {
    part.values.emplace(key, value);
    return true;
  }
  std::string& old = found->second;
  if (old.capacity() / 2 > value.size())
    old = std::string(value);  // the memory of a large value is not kept for a small one
  else
    old.assign(value);
  return true;
}

bool Store::erase(std::string_view key) {
  Part& part = part_of(key);
  const std::lock_guard lock(part.mutex);
  const auto found = part.values.find(key);
  if (found == part.values.end()) return false;
  release(bytes_of(key, found->second));
  part.values.erase(found);
  return true;
}

void Store::clear() {
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    for (const auto& [key, value] : part.values) release(bytes_of(key, value));
    part.values.clear();
  }
}

std::uint64_t Store::size() {
  std::uint64_t keys = 0;
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    keys += part.values.size();
  }
  return keys;
}

bool Store::reserve(std::uint64_t bytes) {
  if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_) return true;
  release(bytes);
  return false;
}

}  // namespace joust::resp
