// SPDX-License-Identifier: MIT
#include "files/protocol/client_phases.hpp"

#include <algorithm>
#include <utility>

namespace joust::file {

void LoadPhases::opened(Time now) {
  phase_ = Phase::waiting;
  run_.opened(now);
}

bool LoadPhases::in_window(Time now) const {
  if (phase_ != Phase::measuring) return false;
  const auto closes = run_.closes();
  return plan_.messages || plan_.turns || (closes && now < *closes);
}

void LoadPhases::begin() {
  turn_ = run_.turn();
  const bool recorded = plan_.turns ? run_.turn_is_recorded() : plan_.warmup == Duration{};
  phase_ = recorded ? Phase::measuring : Phase::warming;
}

// Passes through every phase that `now` has reached.
void LoadPhases::advance(Time now) {
  if (phase_ == Phase::waiting && begins()) begin();
  if (plan_.turns) return;
  if (phase_ == Phase::warming && now >= *run_.start() + plan_.warmup) {
    phase_ = plan_.messages ? Phase::settling : Phase::measuring;
    if (phase_ == Phase::measuring && busy()) run_.recorder().sent(1);
  }
  if (phase_ == Phase::measuring && !plan_.messages) run_.entered_window();
  if (phase_ == Phase::settling && !busy()) {
    phase_ = Phase::ready;
    run_.settled(now);
  }
  if (phase_ == Phase::ready && run_.opens()) phase_ = Phase::measuring;
  if (phase_ == Phase::measuring && !in_window(now)) leave_window(now);
}

void LoadPhases::began(Time now, Time intended) {
  intended_ = intended;
  if (in_window(now)) run_.recorder().sent(1);
}

void LoadPhases::verified(Time now) {
  const Time intended = *std::exchange(intended_, std::nullopt);
  Recorder& recorder = run_.recorder();
  if (plan_.turns) recorder.replied(now, !in_window(now));
  if (!in_window(now)) {
    if (plan_.turns) recorder.beside();
    return;
  }
  recorder.verified(now - intended, run_.windows_before() + (now - *run_.opens()));
  if (!std::exchange(answered_, true)) recorder.answered();
}

void LoadPhases::rest(Time now) {
  phase_ = Phase::waiting;
  run_.rested(now);
}

bool LoadPhases::at_rest() const {
  return plan_.turns && phase_ == Phase::waiting && !begins();
}

void LoadPhases::leave_window(Time now) {
  const bool was_inside = phase_ == Phase::measuring;
  if (phase_ < Phase::ready && plan_.messages && plan_.warmup != Duration{}) run_.settled(now);
  phase_ = Phase::over;
  if (std::exchange(left_, true)) return;
  if (was_inside && busy()) {
    const Time closed = std::min(run_.closes().value_or(now), now);
    run_.recorder().in_flight(1, closed - *intended_);
  }
  if (!plan_.turns) run_.measured(now);
}

void LoadPhases::failed(const Failure& failure, Time now) {
  if (phase_ == Phase::connecting) {
    phase_ = Phase::over;
    return run_.not_opened(failure, now);
  }
  run_.failed(failure);
  if (in_window(now) && busy()) run_.recorder().failed(1);
  intended_.reset();
  if (plan_.turns && phase_ != Phase::over) run_.gone(turn_, phase_ == Phase::waiting, now);
  leave_window(now);
}

void LoadPhases::moved(std::uint64_t sent, std::uint64_t received, Time now) {
  if (!in_window(now)) return;
  if (sent > 0) run_.recorder().bytes_sent(sent);
  if (received > 0) run_.recorder().bytes_received(received);
}

std::optional<Time> LoadPhases::deadline() const {
  switch (phase_) {
    case Phase::waiting:
      return begins() ? run_.start() : std::nullopt;  // due at once when it is known
    case Phase::warming:
      return plan_.turns ? std::nullopt : std::optional(*run_.start() + plan_.warmup);
    case Phase::ready:
      return run_.opens();
    case Phase::measuring:
      return plan_.messages ? std::nullopt : run_.closes();
    default:
      return std::nullopt;
  }
}

}  // namespace joust::file
