// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "engines/engine.hpp"

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

std::vector<EngineInfo> list_engines() {
  std::vector<EngineInfo> list;
  for (const Engine* engine : kTable)
    list.push_back({.name = engine->name,
                    .summary = engine->summary,
                    .serves = engine->serves,
                    .dials = engine->dials,
                    .threads = engine->threads,
                    .knobs = engine->knobs,
                    .unavailable = engine->unavailable ? engine->unavailable() : ""});
  return list;
}

const Engine* find_engine(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &Engine::name);
  return found == kTable.end() ? nullptr : *found;
}

}  // namespace joust
