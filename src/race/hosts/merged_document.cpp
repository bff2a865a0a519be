// SPDX-License-Identifier: MIT
#include "race/hosts/merged_document.hpp"

#include <utility>
#include <vector>

#include "base/document.hpp"
#include "load/merging.hpp"
#include "load/result_json.hpp"

namespace joust::race {

std::expected<std::string, std::string> merged_document(std::span<const HostDocument> hosts) {
  if (hosts.size() == 1) return hosts.front().text;
  std::vector<LoadPart> parts;
  for (const HostDocument& host : hosts) {
    auto result = load_from(documents::parsed(host.text));
    if (!result) return std::unexpected("host " + host.host + ": " + result.error());
    parts.push_back({.name = host.host, .result = std::move(*result)});
    if (std::string why = why_no_parts(parts.front(), parts.back()); !why.empty())
      return std::unexpected(std::move(why));
  }
  auto document = nlohmann::ordered_json::parse(hosts.front().text);
  add_load(document, merged(parts));
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace joust::race
