// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "store/folder_listing.hpp"

namespace joust::http {

// Of a page: as much as a peer may leave unread, and no more entries than are looked up in a few
// milliseconds.
inline constexpr std::size_t kLargestPage = 256 << 10;  // bytes
inline constexpr std::size_t kMostListed = 2'000;

// The page of a directory, whose name is empty for the root: directories first, then files, by their names.
// Whatever does not fit is left out, and the page says so. It loads nothing and runs nothing.
std::string listing_page(std::string_view folder, FolderListing listing);

// With percent signs for every byte that is not unreserved (RFC 3986, 2.3): for a part of a path.
std::string percent_encoded(std::string_view name);

// With references for the characters that HTML knows, in text and in attributes.
std::string html_escaped(std::string_view text);

}  // namespace joust::http
