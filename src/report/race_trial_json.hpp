// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "race/model/result.hpp"

// The parts of a race's document for one trial, and the values that they share with the rest of the document.
namespace joust::report {

nlohmann::ordered_json trial_json(const race::Trial& trial, const race::Case& plan);

inline nlohmann::ordered_json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json seconds(const std::optional<Duration>& time) {
  return time ? nlohmann::ordered_json(std::chrono::duration<double>(*time).count())
              : nlohmann::ordered_json(nullptr);
}

template <typename T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace joust::report
