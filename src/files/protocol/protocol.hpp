// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/store/disk/disk_file.hpp"
#include "joust/protocol.hpp"
#include "joust/service.hpp"
#include "session/option_values.hpp"

namespace joust::file {

inline constexpr auto kSampleName = "sample";
inline constexpr auto kSampleBytes = "64KiB";

std::vector<ProtocolOption> options();

// Parse options. Throw std::invalid_argument.
std::optional<std::uint64_t> bytes_if_given(const Parameters& parameters, const std::string& option);
FileRead file_read(const Parameters& parameters);
FileWrite file_write(const Parameters& parameters);

// Names the method used, for the results: "sendfile", or "read (sendfile was not possible)".
std::string way_used(const std::string& wish, const std::string& plain, bool went_plain);

// The effects of one side's options on a client that does one operation.
// See Protocol::no_effect and Protocol::repeatable.
std::string no_effect(const std::string& option, Role side, const Parameters& client);
Settings repeatable(Settings server, const Parameters& client);

// Make the two sides of the protocol. Both throw std::invalid_argument for invalid options.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::file
