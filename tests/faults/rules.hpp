// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "faults/exchange.hpp"
#include "faults/seam.hpp"

namespace joust::faults {

// Why this fault can never come to this engine, so that it is not injected; empty where it can.
std::string impossible(const conformance::Variant& variant, const Call& call, int error);

// How the outcome of an exchange with these faults in it breaks the rules, one line each:
//
// - A call that was interrupted, fell short or would wait, and an accept that failed, cost nobody anything.
// - Any other fault costs one connection at the most, and that is counted.
// - Where an engine cannot begin it ends with the name of the call, and leaves nothing behind.
std::vector<std::string> broken_rules(std::span<const Fault> faults, const Outcome& outcome);

// The arguments of the soak program that bring the run about again; `which` says the faults.
std::string replay(const conformance::Variant& variant, const Exchange& exchange, const std::string& which);
std::string arguments(const Fault& fault);
std::string text(const Fault& fault);  // "recv fails with ENOMEM at call 3"

}  // namespace joust::faults
