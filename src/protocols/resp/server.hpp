// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/bytes.hpp"
#include "joust/bytes.hpp"

namespace joust::resp {

// A command of a client: its name and its arguments. It refers to the bytes of the message.
class Command {
 public:
  static constexpr std::size_t kMostWords = 64;

  // Reads an array of bulk strings, or words of a line. A message without words is a command without a name.
  // An error says what is wrong, as Redis says it.
  static std::expected<Command, std::string_view> read(Bytes message);

  std::string_view name() const { return count_ == 0 ? std::string_view() : words_[0]; }
  bool is(std::string_view upper_case_name) const;
  std::span<const std::string_view> arguments() const {
    return std::span(words_).subspan(1, count_ == 0 ? 0 : count_ - 1);
  }

 private:
  bool add(std::string_view word);  // returns false if there are too many

  std::array<std::string_view, kMostWords> words_;
  std::size_t count_ = 0;
};

// Keys and values in memory, shared by all connections of a server. It is divided into parts with a lock
// each, so that threads seldom wait for one another. The hash has a random key: a peer cannot choose keys
// that meet in one place. Any thread.
class Store {
 public:
  // most: bytes of keys and values, with a fixed cost for each.
  explicit Store(std::uint64_t most) : most_(most) {}

  // Returns false if the value would exceed the limit.
  bool set(std::string_view key, std::string_view value);
  // Calls `take` with the value while its part is locked, and returns true; false if there is none.
  template <class Take>
  bool get(std::string_view key, Take take) {
    Part& part = part_of(key);
    const std::lock_guard lock(part.mutex);
    const auto found = part.values.find(key);
    if (found != part.values.end()) take(std::string_view(found->second));
    return found != part.values.end();
  }
  bool erase(std::string_view key);  // returns whether it was there
  void clear();
  std::uint64_t size();  // keys

 private:
  static constexpr std::size_t kParts = 64;
  static constexpr std::uint64_t kEntryBytes = 128;  // of a key and a value, beside their own

  struct Hash {
    using is_transparent = void;
    HashKey key;
    Hash() : key(random_key()) {}
    std::size_t operator()(std::string_view text) const { return keyed_hash(key, as_bytes(text)); }
  };
  struct Part {
    std::mutex mutex;
    std::unordered_map<std::string, std::string, Hash, std::equal_to<>> values;
  };

  Part& part_of(std::string_view key) { return parts_[choose_(key) % kParts]; }
  static std::uint64_t bytes_of(std::string_view key, std::string_view value) {
    return key.size() + value.size() + kEntryBytes;
  }
  bool reserve(std::uint64_t bytes);  // returns false if they would exceed the limit
  void release(std::uint64_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  const std::uint64_t most_;
  const Hash choose_;  // of the part
  std::atomic<std::uint64_t> bytes_ = 0;
  std::array<Part, kParts> parts_;
};

}  // namespace joust::resp
