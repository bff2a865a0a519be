// SPDX-License-Identifier: MIT
#pragma once

#include <random>
#include <string>
#include <vector>

#include "report/page/document.hpp"

namespace joust::history {

// A result of one case, "main", with these contestants.
inline report::page::Document document_with(std::vector<report::page::Contestant> contestants) {
  report::page::Document document{
      .race = {.joust = "0.3.0", .started = "2026-01-31T09:30:00Z", .complete = true}};
  document.race.environment = {{"fingerprint", "0123456789abcdef"}, {"host", "here"}, {"kernel", "6.1"}};
  document.cases.push_back({{.name = "main", .ranked_by = "throughput"}, "echo", "echo"});
  document.cases.front().contestants = std::move(contestants);
  return document;
}

// A contestant whose rounds have this throughput and cost, but for a relative noise.
inline report::page::Contestant contestant_with(const std::string& name, double throughput, double cost,
                                                double noise, std::mt19937_64& random,
                                                std::size_t rounds = 8) {
  report::page::Contestant contestant{{.name = name, .ranked = true}};
  std::normal_distribution<double> error(0, noise);
  for (std::size_t round = 1; round <= rounds; ++round)
    contestant.counted.push_back({.round = round,
                                  .throughput = throughput * std::exp(error(random)),
                                  .cost = cost * std::exp(error(random))});
  return contestant;
}

}  // namespace joust::history
