// SPDX-License-Identifier: MIT
#include "connection/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace joust {
namespace {

void keep_once(std::vector<std::string>& list, std::string text, std::size_t most) {
  if (list.size() < most && std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

}  // namespace

std::string describe(const Failure& failure) {
  std::string text(stage_name(failure.stage));
  // Before there is a connection the detail names what was tried; later it says what happened.
  const bool before = failure.stage == Stage::resolve || failure.stage == Stage::connect;
  if (!failure.detail.empty()) text += (before ? " " : ": ") + failure.detail;
  if (failure.error != 0) text += ": " + std::generic_category().message(failure.error);
  return text;
}

void Tally::failed(const Failure& failure) {
  by_stage_[static_cast<std::size_t>(failure.stage)].fetch_add(1);
  const std::lock_guard lock(mutex_);
  keep_once(complaints_, describe(failure), kKept);
}

std::uint64_t Tally::failures() const {
  std::uint64_t sum = 0;
  for (const auto& count : by_stage_) sum += count.load();
  return sum;
}

void Tally::note(std::string text) {
  const std::lock_guard lock(mutex_);
  keep_once(notes_, std::move(text), kKept);
}

void Tally::missing(std::string feature) {
  const std::lock_guard lock(mutex_);
  keep_once(missing_, std::move(feature), kKept);
}

std::vector<std::string> Tally::complaints() const {
  const std::lock_guard lock(mutex_);
  return complaints_;
}

std::vector<std::string> Tally::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

std::vector<std::string> Tally::missing() const {
  const std::lock_guard lock(mutex_);
  return missing_;
}

}  // namespace joust
