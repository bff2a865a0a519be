// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "joust/engine.hpp"

namespace joust {

extern const Engine kNull;
extern const Engine kEpoll;

namespace {

constexpr std::array kTable{&kNull, &kEpoll};

}  // namespace

std::span<const Engine* const> engines() {
  return kTable;
}

const Engine* find_engine(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &Engine::name);
  return found == kTable.end() ? nullptr : *found;
}

}  // namespace joust
