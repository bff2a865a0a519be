// SPDX-License-Identifier: MIT
#include "conformance/tested_engines.hpp"

#include "engines/template.hpp"

namespace joust::conformance {

// Those of the table, and the one that every new engine starts from.
std::vector<const Engine*> tested_engines() {
  std::vector<const Engine*> all(engines().begin(), engines().end());
  all.push_back(&template_engine());
  return all;
}

}  // namespace joust::conformance
