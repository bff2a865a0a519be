// SPDX-License-Identifier: MIT
#include "hostile/life.hpp"

#include <poll.h>
#include <sys/socket.h>

namespace joust::hostile {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(5);
constexpr int kMostTicks = 200;  // for a connect: the accept queue may be full
constexpr int kMostSteps = 64;   // of behaviours that do not wait, in one step of the life

}  // namespace

Life::Life(const Kind& kind, std::uint64_t number, Fd socket)
    : chance_(kind.seed, number),
      messages_(messages_of(kind.protocol, chance_)),
      means_{*messages_, chance_, kind.appetite},
      wire_(std::move(socket)),
      left_(chance_.size(6) - 1) {}

std::optional<Pause> Life::step() {
  if (phase_ == Phase::connecting) return connect();
  if (phase_ == Phase::opening) {
    if (!chance_.one_in(8)) wire_.send(messages_->opening());
    phase_ = Phase::acting;
  }
  return phase_ == Phase::acting ? act() : leave();
}

std::optional<Pause> Life::connect() {
  pollfd socket{.fd = fd(), .events = POLLOUT, .revents = 0};
  if (::poll(&socket, 1, 0) == 0)
    return ++waited_ < kMostTicks ? std::optional(Pause{POLLOUT, kTick}) : std::nullopt;
  if ((socket.revents & (POLLERR | POLLHUP)) != 0) return std::nullopt;
  waited_ = 0;
  phase_ = Phase::opening;
  return Pause{};
}

std::optional<Pause> Life::act() {
  for (int steps = 0; steps < kMostSteps; ++steps) {
    if (wire_.gone()) return std::nullopt;
    if (!behaviour_ && left_ == 0) {
      phase_ = Phase::leaving;
      return Pause{};
    }
    if (!behaviour_) {
      --left_;
      behaviour_ = some_behaviour(means_);
    }
    if (const auto pause = behaviour_->step(wire_)) return pause;
    behaviour_.reset();
  }
  return Pause{};
}

std::optional<Pause> Life::leave() {
  if (waited_ == 0) {
    switch (chance_.below(4)) {
      case 0:
        wire_.reset();
        return std::nullopt;
      case 1:
        return std::nullopt;  // a close, with bytes unread or not
      default:
        wire_.finish();
    }
  }
  for (int reads = 0; reads < 4; ++reads)
    if (wire_.receive(kRead).empty()) break;
  if (wire_.ended() || wire_.gone() || ++waited_ > 10) return std::nullopt;
  return Pause{POLLIN, kTick};
}

}  // namespace joust::hostile
