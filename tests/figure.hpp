// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>

#include "joust/service.hpp"

namespace joust::test {

// A count among the results of a service. Throws std::logic_error where there is none of that name.
inline std::uint64_t figure(const Service& service, const std::string& name) {
  for (const ResultGroup& group : service.results())
    for (const auto& [key, value] : group.figures)
      if (key == name) return std::get<std::uint64_t>(value);
  throw std::logic_error("no figure " + name);
}

}  // namespace joust::test
