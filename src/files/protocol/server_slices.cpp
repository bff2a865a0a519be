// SPDX-License-Identifier: MIT
#include "files/protocol/server_slices.hpp"

#include <utility>

namespace joust::file {
namespace {

constexpr unsigned kMostDigests = 4;  // at the same time: each takes a millisecond of its loop's time
constexpr Duration kLookForTurn = std::chrono::milliseconds(20);
constexpr Duration kTurn = std::chrono::milliseconds(50);  // if others wait for a turn

}  // namespace

void Slices::begin(Time now) {
  due_ = now;
  answers_.working_since(now);
}

bool Slices::has_turn(bool of_upload) {
  if (has_turn_) return true;
  const unsigned most = of_upload ? kMostDigests : kMostDigests - 1;
  unsigned others = server_.digests.load();
  while (others < most && !has_turn_) has_turn_ = server_.digests.compare_exchange_weak(others, others + 1);
  if (!has_turn_) ++server_.turns_refused;
  return has_turn_;
}

bool Slices::take_turn(bool of_upload, Time now) {
  const bool had_it = has_turn_;
  const bool gives_it = had_it && now >= turn_ends_ && server_.turns_refused != refused_before_;
  if (gives_it) end();
  due_ = gives_it ? now + 2 * kLookForTurn : has_turn(of_upload) ? now : now + kLookForTurn;
  if (has_turn_ && !had_it) {
    turn_ends_ = now + kTurn;
    refused_before_ = server_.turns_refused;
  }
  if (!has_turn_) answers_.working(0, now);
  return has_turn_;
}

void Slices::end() {
  if (std::exchange(has_turn_, false)) --server_.digests;
}

void Slices::put_off(Time until) {
  end();
  due_ = until;
}

}  // namespace joust::file
