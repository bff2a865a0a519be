// SPDX-License-Identifier: MIT
#include "protocols/work/options.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "base/units.hpp"

namespace joust::work {

std::vector<ProtocolOption> options() {
  return {{.name = "work",
           .summary = "time that a request takes the server, for each unit of its workload: 20us, 5ms",
           .standard = "0",
           .loads = false,
           .in_ceiling = false},
          {.name = "most-work",
           .summary = "the longest time that one request may ask for, up to 10s; others wait meanwhile",
           .standard = "100ms",
           .loads = false,
           .in_ceiling = false},
          {.name = "work-kind",
           .summary = "the server computes for so long (busy), or replies so much later (sleep)",
           .standard = "busy",
           .choices = {"busy", "sleep"},
           .loads = false},
          {.name = "workload",
           .summary = "units of work that each request asks for",
           .standard = "1",
           .serves = false},
          {.name = "writes",
           .summary = "length and message leave in one write, or in two",
           .standard = "one",
           .choices = {"one", "two"}}};
}

namespace {

Duration time_of(const Parameters& parameters, const std::string& option) {
  const auto time = parse_duration(parameters.option(option));
  if (!time) throw std::invalid_argument(fmt::format("--{}: {}", option, time.error()));
  if (*time > kMostWork)
    throw std::invalid_argument(fmt::format("--{}: at most {}", option, format_duration(kMostWork)));
  return *time;
}

}  // namespace

Labour labour(const Parameters& parameters) {
  const Duration time = time_of(parameters, "work"), most = time_of(parameters, "most-work");
  if (time > most)
    throw std::invalid_argument(
        fmt::format("--work: more than one request may ask for, which is {}; "
                    "--most-work allows more",
                    format_duration(most)));
  return {.time = time,
          .most = most,
          .kind = parameters.option("work-kind") == "sleep" ? Kind::sleep : Kind::busy};
}

std::int32_t workload(const Parameters& parameters) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto units = parse_count(parameters.option("workload"));
  if (!units) throw std::invalid_argument("--workload: " + units.error());
  if (*units > kMost) throw std::invalid_argument(fmt::format("--workload: at most {}", kMost));
  return static_cast<std::int32_t>(*units);
}

bool in_two_writes(const Parameters& parameters) {
  return parameters.option("writes") == "two";
}

}  // namespace joust::work
