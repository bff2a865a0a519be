// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace joust {

// Which ranks serve and which load. A rank that is named twice has two processes.
struct Layout {
  std::vector<std::size_t> servers{}, loads{};
};

// Returns the hosts of --hosts, "a,b,c", by rank: in their order where --layout says what each of them does.
// Else, where one serves, the second host of the list conducts and loads as rank 0, and the first one serves
// as rank 1: the conductor has little to do, and that little is not on the server's host. None for an empty
// text. Throws UsageError.
std::vector<std::string> ranked_hosts(const std::string& text, bool has_layout, bool one_serves);

// Returns the layout without --layout.
Layout usual_layout(std::size_t hosts, bool one_serves);

// Returns the layout with so many processes of its servers that each has at most `most` of the connections,
// which are divided among the loads, and these among the servers in turn. At most one for each load.
Layout with_servers_for(Layout layout, std::uint64_t connections, std::uint64_t most);

// Parses "server=1 load=0,2..", the last to the last rank. The error says what is wrong.
std::expected<Layout, std::string> parse_layout(const std::string& text, std::size_t hosts);

}  // namespace joust
