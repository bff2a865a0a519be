// SPDX-License-Identifier: MIT
#include "joust/session.hpp"

#include <array>

namespace joust {

std::string_view stage_name(Stage stage) {
  static constexpr std::array<std::string_view, kStages> kNames{"resolve", "connect", "send", "receive",
                                                                "verify",  "timeout", "local"};
  return kNames[static_cast<std::size_t>(stage)];
}

}  // namespace joust
