// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "files/store/disk/disk_file.hpp"
#include "joust/protocol.hpp"

namespace joust::file {

inline constexpr auto kSampleName = "sample";
inline constexpr auto kSampleBytes = "64KiB";

std::vector<ProtocolOption> options();

// Parse options. Throw std::invalid_argument.
std::uint64_t bytes_of(const Parameters& parameters, const std::string& option);
std::optional<std::uint64_t> bytes_if_given(const Parameters& parameters, const std::string& option);
std::uint64_t count_of(const Parameters& parameters, const std::string& option);
bool is_yes(const Parameters& parameters, const std::string& option);
FileRead file_read(const Parameters& parameters);
FileWrite file_write(const Parameters& parameters);

// Names the method used, for the results: "sendfile", or "read (sendfile was not possible)".
std::string way_used(const std::string& wish, const std::string& plain, bool went_plain);

}  // namespace joust::file
