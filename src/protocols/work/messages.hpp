// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "joust/bytes.hpp"
#include "joust/framing.hpp"

// The messages of work.proto as plain values. Only messages.cpp includes Protocol Buffers.
namespace joust::work {

// All fields of this version fit into 19 bytes. A message of a later version may have more fields, which are
// skipped.
inline constexpr std::size_t kLargestMessage = 256;
inline constexpr Length4 kFraming{.largest = kLargestMessage};

struct JobRequest {
  std::uint32_t job_id = 0;
  std::int32_t workload = 0;

  bool operator==(const JobRequest&) const = default;
};

struct JobResponse {
  std::uint32_t job_id = 0;
  bool is_complete = false;

  bool operator==(const JobResponse&) const = default;
};

// A message, or a description of its error.
using Parsed = std::variant<JobRequest, JobResponse, std::string_view>;
Parsed parse(Bytes message);

// Writes the message into `room`. Neither these functions nor parse() allocate memory, unless a peer sends
// unknown fields.
using Room = std::array<std::byte, 32>;
Bytes serialize(const JobRequest& request, Room& room);
Bytes serialize(const JobResponse& response, Room& room);

}  // namespace joust::work
