// SPDX-License-Identifier: MIT
#include "cli/hosts/networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/text.hpp"
#include "net/address.hpp"

namespace joust {
namespace {

// The networks of messages, and those of the daemons.
constexpr std::array kIncluded{"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include"};
constexpr std::array kExcluded{"OMPI_MCA_btl_tcp_if_exclude", "OMPI_MCA_oob_tcp_if_exclude"};

bool names_networks(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#') && line.contains("tcp_if_")) return true;
  return false;
}

bool has_user_chosen() {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  const char* const home = std::getenv("HOME");
  return std::ranges::any_of(kIncluded, is_set) || std::ranges::any_of(kExcluded, is_set) ||
         names_networks("/etc/openmpi/openmpi-mca-params.conf") ||
         (home != nullptr && names_networks(std::string(home) + "/.openmpi/mca-params.conf"));
}

// Returns the address of a host; empty if it is not known, or this machine's own by loopback.
std::string address_by_name(const std::string& host) {
  const auto found = resolve(host + ":1");
  if (!found || found->empty() || found->front().family() != AF_INET) return {};
  return host_of(to_text(found->front()));
}

}  // namespace

std::optional<std::string> common_subnet(std::span<const OwnNetwork> own,
                                         std::span<const std::string> others) {
  std::optional<std::string> common;
  for (const OwnNetwork& one : own) {
    const auto has = [&](const std::string& address) { return is_in_subnet(address, one.subnet); };
    if (others.empty() || !std::ranges::all_of(others, has)) continue;
    if (common && *common != one.subnet) return std::nullopt;
    common = one.subnet;
  }
  return common;
}

void choose_network_of(const std::vector<std::string>& hosts) {
  const std::vector<OwnNetwork> own = own_networks();
  if (own.size() < 2 || has_user_chosen()) return;
  std::vector<std::string> others;
  for (const std::string& host : hosts)
    if (const std::string address = address_by_name(host); !address.starts_with("127."))
      others.push_back(address);
  const auto subnet = common_subnet(own, others);
  if (!subnet) return;
  for (const char* const variable : kIncluded) ::setenv(variable, subnet->c_str(), 1);
}

std::string hint_at_networks() {
  std::vector<std::string> all;
  for (const OwnNetwork& one : own_networks())
    all.push_back(fmt::format("{} ({})", one.interface, one.subnet));
  const char* const chosen = std::getenv(kIncluded.front());
  return fmt::format(
      "the hosts have not met yet. Open MPI uses {}. If that is not the network that joins them: "
      "export {}=SUBNET {}=SUBNET",
      chosen != nullptr ? std::string("the network ") + chosen : "all networks, here " + join(all, ", "),
      kIncluded[0], kIncluded[1]);
}

}  // namespace joust
