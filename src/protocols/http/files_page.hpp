// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "files/store/folder_listing.hpp"

namespace joust::http {

// Limits of a page: as many bytes as a peer may leave unread, and no more entries than can be read in a few
// milliseconds.
inline constexpr std::size_t kLargestPage = 256 << 10;  // bytes
inline constexpr std::size_t kMostListed = 2'000;

// Returns the page of a directory, whose name is empty for the root: directories first, then files, by their
// names. Entries that do not fit are left out, and the page reports that. It loads nothing and runs nothing.
std::string listing_page(std::string_view folder, FolderListing listing);

// Encodes every byte that is not unreserved with a percent sign (RFC 3986, 2.3): for a part of a path.
std::string percent_encoded(std::string_view name);

// Replaces the special characters of HTML by references, for text and attributes.
std::string html_escaped(std::string_view text);

// The value of Content-Type for a file, by the end of its name.
std::string_view media_type(std::string_view name);

inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
inline constexpr std::string_view kHtml = "text/html; charset=utf-8";

}  // namespace joust::http
