// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "faults/rules.hpp"

namespace joust::faults {

// Every fault of every call that the engine makes in an exchange: at its first call, at its last, and at up
// to `between` others, which the seed chooses. Throws std::runtime_error where the exchange fails without a
// fault.
std::vector<Fault> faults_of(const conformance::Variant& variant, const Exchange& exchange,
                             std::uint64_t between, std::uint64_t seed);

// The exchange with that fault in it. Returns what breaks the rules.
std::vector<std::string> try_fault(const conformance::Variant& variant, const Exchange& exchange,
                                   const Fault& fault);

// The engines that play the exchange's role over sockets, each as it comes, level-triggered where it can be,
// and with two threads where it can have them.
std::vector<conformance::Variant> variants_for(const Exchange& exchange);

}  // namespace joust::faults
