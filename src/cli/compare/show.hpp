// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/stored_result.hpp"
#include "history/comparison.hpp"

// The forms of what the sub-command `compare` has found.
namespace joust {

// A change beside a threshold.
struct Judged {
  const history::Change* change;
  race::Fails fails;
  double limit;
  race::Standing standing;
};

struct Compared {
  history::NamedDocument base, now;
  std::vector<std::string> different{};  // facts of the environments
  std::string another_race{};            // why these are no results of the same race
  stats::Measure measure{};
  std::vector<history::Change> changes{};
  std::vector<Judged> judged{};
};

std::string compare_text(const Compared& compared);
// Returns the document that docs/compare.schema.json describes.
std::string compare_json(const Compared& compared);
// Returns a sentence for each change beside a threshold, with its consequence.
std::vector<std::string> threshold_words(const Compared& compared, bool undecided_fails);

}  // namespace joust
