// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "load/result.hpp"

namespace joust {

// Results of a load for people: a block of lines that ends with a newline.
// Describes the plan, for the line above the figures: "10 connections, 300 ms after 100 ms of warm-up".
std::string plan_text(const LoadPlan& plan);

std::string load_text(const LoadResult& result);

}  // namespace joust
