// SPDX-License-Identifier: MIT
#include "conformance/tested_engines.hpp"

#include <cstdlib>
#include <string>

#include "mutants/is_planted.hpp"

namespace joust {

bool is_planted(int fault) {
  static const char* const wanted = std::getenv("JOUST_FAULT");
  static const int planted = wanted == nullptr ? 0 : std::stoi(wanted);
  return fault == planted;
}

namespace conformance {

// The table's engines take part as the other side of some tests.
std::vector<const Engine*> tested_engines() {
  std::vector<const Engine*> all(engines().begin(), engines().end());
  all.push_back(&planted_engine());
  return all;
}

}  // namespace conformance
}  // namespace joust
