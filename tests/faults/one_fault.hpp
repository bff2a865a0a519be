// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "faults/rules.hpp"

namespace joust::faults {

inline constexpr std::uint64_t kAllPlaces = ~std::uint64_t{0};

// Every fault of every call that the engine makes in an exchange, each at `places` of these calls at the
// most. The seed chooses them: the first, the last and one between are equally likely. Throws
// std::runtime_error where the exchange fails without a fault.
std::vector<Fault> faults_of(const conformance::Variant& variant, const Exchange& exchange,
                             std::uint64_t places, std::uint64_t seed);

// The exchange with those faults in it. Returns what breaks the rules.
std::vector<std::string> try_faults(const conformance::Variant& variant, const Exchange& exchange,
                                    std::span<const Fault> faults);

// The engines that play the exchange's role over sockets, each as it comes, level-triggered where it can be,
// and with three threads where it can have them.
std::vector<conformance::Variant> variants_for(const Exchange& exchange);

}  // namespace joust::faults
