// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "load/result.hpp"

namespace joust {

// The document of one host of a load (`load --json`), with what is known about the host.
struct LoadOfHost {
  std::string name{};
  nlohmann::ordered_json document{};  // null: there is none
  LoadResult result{};                // as read from the document, or without measurements
  std::string trouble{};              // empty: none
  std::optional<std::int64_t> clock_offset_ns{}, clock_error_ns{};  // of the host's clock to the first one's
  std::optional<std::int64_t> opened_ns{};  // when its window opened, on a clock that all have in common
};

// Reads the result of a host from its document. Returns why it is none.
std::string read_part(LoadOfHost& host);

// Reads the result of a load from a file, named after the file. Nothing if it is no file with such a result;
// `trouble` says why one cannot be read.
std::optional<LoadOfHost> read_load_file(const std::string& path);

// The parts of a load as one.
struct WholeLoad {
  LoadResult result{};
  nlohmann::ordered_json document{};              // as of `load --json`, with "hosts"
  std::optional<std::int64_t> start_spread_ns{};  // from the first start to the last one, if it is known
};

// Merges the parts. Something like the engine is that of the first document. REQUIRES: at least one document.
WholeLoad merged_load(std::span<const LoadOfHost> hosts);

// Returns lines for people about the hosts: connections, messages a second, starts, and what is wrong.
std::string hosts_text(const WholeLoad& whole, std::span<const LoadOfHost> hosts);

}  // namespace joust
