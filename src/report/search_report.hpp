// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "load/search.hpp"

// The result of `joust load --search`, as a document and as text.
namespace joust {

// The members of the document of `joust load --search` after those of the program (LoadProgram).
struct SearchDocument {
  struct Wanted {
    std::string figure{};
    std::int64_t limit_ns = 0;
  };
  struct Step {
    double rate_per_s = 0;
    std::optional<bool> held{};
    std::string why{};
    nlohmann::ordered_json load{};  // the result of the load, without histograms
  };

  Wanted criterion{};
  std::optional<RateLimit> limit{};
  std::optional<double> highest_rate_per_s{}, lowest_failing_rate_per_s{}, capacity_per_s{};
  bool limited_by_load = false, cut = false;
  std::string lost{};
  bool interrupted = false;
  std::vector<Step> steps{};
};

// Adds the criterion, all steps with their loads, and the rates found.
void add_search(nlohmann::ordered_json& document, const SearchResult& result);

// Returns the text for people: a table with a line for each try, and the answer.
std::string search_text(const SearchResult& result);

}  // namespace joust
