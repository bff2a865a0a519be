// SPDX-License-Identifier: MIT
#include "planted/is_planted.hpp"

#include <cstdlib>

namespace joust {

bool is_planted(std::string_view fault) {
  static const char* const planted = std::getenv("JOUST_PLANTED");
  return planted != nullptr && fault == planted;
}

}  // namespace joust
