// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "load/result.hpp"

namespace joust::race {

// Losses where delivery is lossy: lost deliveries where the protocol counts deliveries, otherwise requests
// that had no reply.
struct Loss {
  std::uint64_t lost = 0, of = 0;
};

// Returns nothing where delivery is not lossy.
std::optional<Loss> loss_of(const LoadResult& load);

// Returns the share with two significant digits, "0.3 %", or in a phrase: "lost 0.3 % of its messages".
std::string share_words(const Loss& loss);
std::string lost_words(const Loss& loss);

}  // namespace joust::race
