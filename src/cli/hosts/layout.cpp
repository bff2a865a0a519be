// SPDX-License-Identifier: MIT
#include "cli/hosts/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "cli/common/command.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostHosts = 1000;
constexpr std::size_t kMostProcesses = 4096;

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  if (text.empty() || text.back() == separator) parts.emplace_back();
  return parts;
}

std::expected<std::size_t, std::string> rank_from(const std::string& text, std::size_t hosts) {
  std::size_t rank = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::unexpected(fmt::format("'{}' is no rank such as 2, and no ranks such as 2..5 or 2..", text));
  if (rank >= hosts)
    return std::unexpected(
        fmt::format("there is no rank {}: the {} hosts are 0 to {}", rank, hosts, hosts - 1));
  return rank;
}

// Adds "3", "2..5" or "2..".
std::expected<void, std::string> add_ranks(std::vector<std::size_t>& into, const std::string& text,
                                           std::size_t hosts) {
  const std::size_t dots = text.find("..");
  const auto first = rank_from(text.substr(0, dots), hosts);
  if (!first) return std::unexpected(first.error());
  std::size_t last = *first;
  if (dots != std::string::npos) {
    last = hosts - 1;
    if (const std::string end = text.substr(dots + 2); !end.empty()) {
      const auto given = rank_from(end, hosts);
      if (!given) return std::unexpected(given.error());
      last = *given;
    }
  }
  for (std::size_t rank = *first; rank <= last; ++rank) into.push_back(rank);
  if (into.size() > kMostProcesses) return std::unexpected("too many processes");
  return {};
}

std::expected<std::vector<std::string>, std::string> parse_hosts(const std::string& text) {
  std::vector<std::string> hosts = split_at(text, ',');
  if (hosts.size() < 2) return std::unexpected(fmt::format("'{}' is one host: name at least two", text));
  if (hosts.size() > kMostHosts) return std::unexpected(fmt::format("more than {} hosts", kMostHosts));
  for (const std::string& host : hosts) {
    if (host.contains('@'))
      return std::unexpected(
          fmt::format("'{}' has a user, and mpirun takes none: name the user in ~/.ssh/config", host));
    if (host.empty() || host.starts_with('-') ||
        host.find_first_of(" :;'\"\\$`&|<>(){}\t\n") != std::string::npos)
      return std::unexpected(fmt::format("'{}' is no name of a host", host));
    if (std::ranges::count(hosts, host) > 1)
      return std::unexpected(fmt::format(
          "{} is there twice; for two processes on a host, name its rank twice in --layout", host));
  }
  return hosts;
}

}  // namespace

std::vector<std::string> ranked_hosts(const std::string& text, bool has_layout, bool one_serves) {
  if (text.empty()) return {};
  auto hosts = parse_hosts(text);
  if (!hosts) throw UsageError("--hosts: " + hosts.error());
  if (one_serves && !has_layout) std::swap((*hosts)[0], (*hosts)[1]);
  return *hosts;
}

Layout usual_layout(std::size_t hosts, bool one_serves) {
  Layout layout;
  for (std::size_t rank = 0; rank < hosts; ++rank)
    (one_serves && rank == 1 ? layout.servers : layout.loads).push_back(rank);
  return layout;
}

Layout with_servers_for(Layout layout, std::uint64_t connections, std::uint64_t most) {
  if (layout.servers.empty()) return layout;
  const auto share = [](std::uint64_t whole, std::uint64_t parts) { return (whole + parts - 1) / parts; };
  const std::uint64_t loads = layout.loads.size(), of_load = share(connections, loads);
  const std::vector<std::size_t> ranks = layout.servers;
  while (layout.servers.size() < loads && share(loads, layout.servers.size()) * of_load > most)
    layout.servers.push_back(ranks[layout.servers.size() % ranks.size()]);
  return layout;
}

std::expected<Layout, std::string> parse_layout(const std::string& text, std::size_t hosts) {
  Layout layout;
  for (const std::string& word : split_at(text, ' ')) {
    const std::size_t equals = word.find('=');
    const std::string role = word.substr(0, equals);
    if (equals == std::string::npos || (role != "server" && role != "load"))
      return std::unexpected(fmt::format("'{}' is not as in 'server=1 load=0,2..'", word));
    for (const std::string& ranks : split_at(word.substr(equals + 1), ','))
      if (const auto added = add_ranks(role == "load" ? layout.loads : layout.servers, ranks, hosts); !added)
        return std::unexpected(added.error());
  }
  if (layout.loads.empty()) return std::unexpected("no rank loads: say load=RANKS");
  return layout;
}

}  // namespace joust
