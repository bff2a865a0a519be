// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

#include "engines/engine.hpp"
#include "engines/io_uring/setup.hpp"
#include "joust/engines.hpp"

namespace joust {

// The knobs of the engine io-uring. Each changes the set-up of the ring, or the preparation of one operation.
// Choices that this kernel lacks have the reason.
extern const std::array<Knob, 8> kUringKnobs;

// See Engine::decided.
DecidedKnob decided_uring_knob(std::string_view knob, const EngineOptions& options);

// Returns `base`, changed as the knobs and the limits demand.
UringSetup with_knobs(UringSetup base, const EngineOptions& options, const Limits& limits);

}  // namespace joust
