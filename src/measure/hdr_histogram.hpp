// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "measure/histogram.hpp"

namespace joust {

// Returns the buckets of a distribution as a text that the tools of HdrHistogram read: its format V2, which
// they call compressed, in base64 ("HISTF..."). The unit is the nanosecond, with three significant digits.
// `distribution` is that of a Histogram, whose buckets are those of HdrHistogram, so a reader gets the same
// counts. Its least and greatest value are not in the format: a reader takes the ends of their buckets.
//
// The format is that of AbstractHistogram.encodeIntoCompressedByteBuffer() in HdrHistogram 2.1. Its contents
// are stored in the format of zlib without being compressed, which needs no library, and few bytes more: the
// counts are a byte or two each.
std::string hdr_histogram(const Distribution& distribution);

// Reads such a text. The least and the greatest value of the result are the ends of their buckets, and the
// sum is that of their middles. Returns nothing if the text is damaged, is of other buckets, or was
// compressed by another tool.
std::optional<Distribution> read_hdr_histogram(std::string_view text);

}  // namespace joust
