// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "joust/protocol.hpp"
#include "protocols/resp/zipf.hpp"

namespace joust::resp {

// A value begins with the numbers of its write and its key, and the mark of the load.
inline constexpr std::size_t kLeastValue = 16;
inline constexpr std::size_t kLargestValue = 1 << 20;

std::vector<ProtocolOption> options();

// The way in which requests pick their keys.
enum class KeyPattern : std::uint8_t { uniform, zipf, sequential };

// The requests of a client.
struct Workload {
  std::uint64_t sets = 1, gets = 10;  // of so many requests together
  std::string prefix{};               // of each key
  std::uint64_t keys = 0;
  KeyPattern pattern = KeyPattern::uniform;
  std::optional<Zipf> zipf{};
  std::size_t least_value = 0, largest_value = 0;  // bytes
  bool fills = true;                               // each connection writes its keys once before the load

  std::uint64_t mean_value() const { return (least_value + largest_value) / 2; }
};

// Returns why an option of the client has no effect; empty if it has one. See Protocol::no_effect.
std::string no_effect(const std::string& option, const Parameters& client);

// Parse the options. They throw std::invalid_argument.
Workload workload(const Parameters& parameters, std::uint64_t connections);
std::uint64_t most_memory(const Parameters& parameters);  // bytes of keys and values of a server

}  // namespace joust::resp
