// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "joust/engine.hpp"

namespace joust {

extern const Engine kNull;
extern const Engine kThreads;
extern const Engine kPoll;
extern const Engine kEpoll;
extern const Engine kIoUring;

namespace {

constexpr std::array kTable{&kNull, &kThreads, &kPoll, &kEpoll, &kIoUring};

}  // namespace

std::span<const Engine* const> engines() {
  return kTable;
}

const Engine* find_engine(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &Engine::name);
  return found == kTable.end() ? nullptr : *found;
}

}  // namespace joust
