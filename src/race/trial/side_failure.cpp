// SPDX-License-Identifier: MIT
#include "race/trial/side_failure.hpp"

#include "race/trial/child.hpp"

namespace joust::race {

bool fail(SideFailure failure, Trial& trial) {
  if (!failure.document.empty()) read_load(failure.document, trial);
  trial.failure = std::move(failure.what);
  trial.last_words = std::move(failure.last_words);
  trial.refused = failure.refused;
  trial.not_found = failure.not_found;
  trial.host_lost = failure.of_host;
  return false;
}

}  // namespace joust::race
