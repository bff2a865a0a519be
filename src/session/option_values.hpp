// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "base/units.hpp"
#include "joust/protocol.hpp"
#include "joust/time.hpp"

// The values of a protocol's options. Each throws std::invalid_argument, with the option, for a text that
// `parse` does not understand.
namespace joust {

template <typename Parse>
auto option_value(const Parameters& parameters, const std::string& option, Parse parse) {
  auto value = parse(parameters.option(option));
  if (!value) refuse_option(option, value.error());
  return *value;
}

inline std::uint64_t bytes_of(const Parameters& parameters, const std::string& option) {
  return option_value(parameters, option, parse_bytes);
}

inline std::uint64_t count_of(const Parameters& parameters, const std::string& option) {
  return option_value(parameters, option, parse_count);
}

inline Duration duration_of(const Parameters& parameters, const std::string& option) {
  return option_value(parameters, option, parse_duration);
}

inline bool is_yes(const Parameters& parameters, const std::string& option) {
  return parameters.option(option) == "yes";
}

}  // namespace joust
