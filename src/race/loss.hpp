// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace joust::race {

struct LoadResult;  // result.hpp

// What was lost where delivery is lossy: deliveries where the protocol counts these, otherwise requests that
// had no reply.
struct Loss {
  std::uint64_t lost = 0, of = 0;
};

// Nothing where delivery is not lossy.
std::optional<Loss> loss_of(const LoadResult& load);

// "0.3 %", with two digits that say something, and "lost 0.3 % of its messages".
std::string share_words(const Loss& loss);
std::string lost_words(const Loss& loss);

}  // namespace joust::race
