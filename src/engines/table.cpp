// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <utility>

#include "connection/account.hpp"
#include "connection/tally.hpp"
#include "engines/engine.hpp"

// Every engine, in the order in which they are listed. A new engine is its own file and a line here
// (docs/howto/add-an-engine.md).
// clang-format off
#define JOUST_ENGINES(engine) \
  engine(kNull)               \
  engine(kThreads)            \
  engine(kTwoThreads)         \
  engine(kProcesses)          \
  engine(kTwoProcesses)       \
  engine(kSelectBlocking)     \
  engine(kSelect)             \
  engine(kPoll)               \
  engine(kKqueue)             \
  engine(kEpoll)              \
  engine(kCoroutines)         \
  engine(kIoUring)            \
  engine(kEpollPool)          \
  engine(kKqueuePool)         \
  engine(kIoUringPool)        \
  engine(kAsioPool)           \
  engine(kAsioCoroutines)     \
  engine(kLibuv)              \
  engine(kLibevent)           \
  engine(kLibev)              \
  engine(kQt)                 \
  engine(kQtThreads)          \
  engine(kQtPool)             \
  engine(kZeroMq)             \
  engine(kZeroMqPool)         \
  engine(kUdpCoroutines)      \
  engine(kUdpReuseport)       \
  engine(kUdpBatched)         \
  engine(kUdpMulticast)
// clang-format on

// The engines of a program outside of the sources (docs/howto/bring-your-engine.md).
#ifdef JOUST_MORE_ENGINES_FILE
#include JOUST_MORE_ENGINES_FILE
#else
#define JOUST_MORE_ENGINES(engine)
#endif

namespace joust {

#define JOUST_DECLARE(engine) extern const Engine engine;
JOUST_ENGINES(JOUST_DECLARE)
JOUST_MORE_ENGINES(JOUST_DECLARE)

namespace {

#define JOUST_ADDRESS(engine) &engine,
constexpr std::array kTable{JOUST_ENGINES(JOUST_ADDRESS) JOUST_MORE_ENGINES(JOUST_ADDRESS)};

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
                    .clients_wait = engine->clients_wait,
                    .not_public = engine->not_public,
                    .knobs = engine->knobs,
                    .unavailable = engine->unavailable ? engine->unavailable() : ""});
  return list;
}

const Engine* find_engine(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &Engine::name);
  return found == kTable.end() ? nullptr : *found;
}

Settings unavailable_choices(const Knob& knob) {
  Settings reasons;
  for (const std::string_view choice : knob.choices)
    if (const std::string reason = knob.unavailable ? knob.unavailable(choice) : ""; !reason.empty())
      reasons.emplace(choice, reason);
  return reasons;
}

std::optional<UnavailableChoice> unavailable_choice(const Engine& engine, const Settings& knobs) {
  for (const auto& [name, choice] : knobs) {
    const auto knob = std::ranges::find(engine.knobs, name, &Knob::name);
    if (knob == engine.knobs.end() || knob->unavailable == nullptr) continue;
    if (std::string reason = knob->unavailable(choice); !reason.empty())
      return UnavailableChoice{name, choice, std::move(reason)};
  }
  return std::nullopt;
}

std::size_t Hosting::room(std::size_t open) const {
  const std::size_t most = limits.connections + (account == nullptr ? 0 : spare_places(limits.connections));
  return most - std::min(most, open);
}

void Hosting::accepting_pauses(std::string_view why, Time now) const {
  tally.note(why);
  if (account != nullptr) account->short_of_places(now);
}

void Hosting::not_opened(const Failure& failure, Time now) const noexcept {
  tally.not_opened(failure);
  try {
    service.not_opened(failure, now);
  } catch (const std::exception&) {
    // The service threw. The connection has been counted all the same.
  }
}

}  // namespace joust
