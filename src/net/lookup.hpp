// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.hpp"

namespace joust {

using Resolver = std::function<std::expected<std::vector<Endpoint>, Failure>(std::string_view text)>;

// Calls resolve() with a time limit, which getaddrinfo(3) lacks: it asks several name servers several times.
// A name is looked up on a thread of its own. When the limit has passed, that thread is abandoned, and the
// result is a failure of the stage resolve with ETIMEDOUT. An abandoned thread does not keep the process from
// ending. Addresses without a name need no thread.
std::expected<std::vector<Endpoint>, Failure> resolve_within(Duration limit, std::string_view text,
                                                             const Resolver& resolver = resolve);

}  // namespace joust
