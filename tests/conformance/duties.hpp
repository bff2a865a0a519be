// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace joust::conformance {

// The duties of an engine, with the numbers of docs/howto/add-an-engine.md. The comments of
// src/engines/template.cpp and the faults of tests/mutants use the same numbers.
enum class Duty : std::uint8_t {
  accept_quota = 1,
  every_address,
  shortage,
  read_quota,
  back_pressure,
  order,
  send_quota,
  files,
  publications,
  batching,
  deadlines,
  wait,
  idle,
  wait_errors,
  resets,
  hang_ups,
  misfortune,
  dialling,
  queue_at_stop,
  stop,
  nothing_left,
};
inline constexpr int kDuties = static_cast<int>(Duty::nothing_left);

std::string_view name_of(Duty duty);

// "duty 7 (send quota)"
std::string describe(Duty duty);

// Sets the duty that the running test checks, for the message of a test that hangs; empty for none.
void question(std::optional<Duty> duty);
std::string duty_in_question();

}  // namespace joust::conformance
