// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace joust {

// Which ranks serve and which load. A rank that is named twice has two processes.
struct Layout {
  std::vector<std::size_t> servers{}, loads{};
};

// Returns the hosts by rank. Where one serves, the second host of the list conducts and loads as rank 0, and
// the first one serves as rank 1: the conductor has little to do, and that little is not on the server's
// host.
std::vector<std::string> by_rank(std::vector<std::string> hosts, bool one_serves);

// Returns the layout without --layout.
Layout usual_layout(std::size_t hosts, bool one_serves);

// Parses "server=1 load=0,2..", the last to the last rank. The error says what is wrong.
std::expected<Layout, std::string> parse_layout(const std::string& text, std::size_t hosts);

// Parses "a,b,c". The error says what is wrong.
std::expected<std::vector<std::string>, std::string> parse_hosts(const std::string& text);

}  // namespace joust
