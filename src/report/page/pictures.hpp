// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "report/page/document.hpp"
#include "report/page/picture.hpp"

// One function for each picture of a race. A picture is missing where the race has no data for it.
namespace joust::report::page {

// The ratios to the reference, with their intervals and a dot for every generation: of throughput, or of the
// latency that ranks; and of cost.
std::optional<Picture> ratio_picture(const Case& load_case, double precision);
std::optional<Picture> cost_ratio_picture(const Case& load_case, double precision);

// The percentiles of latency, on a logarithmic axis of the share of slower replies.
std::optional<Picture> latency_picture(const Case& load_case);

// The CPU time of a message, in user mode and in the kernel, of both sides.
std::optional<Picture> cpu_picture(const Case& load_case);

// Cases that differ in one number, in the order of the document.
struct CaseCurve {
  AxisPoint first{};  // axis and curve are those of all points
  std::vector<const Case*> cases{};
};
std::vector<CaseCurve> case_curves(const Document& document);

// A figure of every contestant over the axis of a curve.
std::optional<Picture> curve_picture(const CaseCurve& curve, const FigureRow& figure);
// Returns the pictures of a curve: throughput unless it is given, latency, and the server's CPU time.
std::vector<Picture> curve_pictures(const CaseCurve& curve);

// Returns the pictures of a case, and all pictures of a race with the names of their files.
std::vector<Picture> case_pictures(const Case& load_case, double precision);
std::vector<Picture> all_pictures(const Document& document);

}  // namespace joust::report::page
