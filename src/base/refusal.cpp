// SPDX-License-Identifier: MIT
#include "base/refusal.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace joust {

void refuse(std::string_view where, const std::string& what) {
  throw std::invalid_argument(fmt::format("{}: {}", where, what));
}

void refuse_option(std::string_view option, const std::string& what) {
  refuse(fmt::format("--{}", option), what);
}

}  // namespace joust
