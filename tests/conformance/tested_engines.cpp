// SPDX-License-Identifier: MIT
#include "conformance/tested_engines.hpp"

#include "engines/template.hpp"

namespace joust::conformance {

// The engines of the table, and the template.
std::vector<const Engine*> tested_engines() {
  std::vector<const Engine*> all(engines().begin(), engines().end());
  all.push_back(&template_engine());
  return all;
}

}  // namespace joust::conformance
