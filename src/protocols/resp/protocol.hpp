// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "joust/protocol.hpp"

namespace joust::resp {

// The bytes of a message: a value of 1 MiB with its command.
inline constexpr std::size_t kLargestMessage = (1 << 20) + (64 << 10);

// The service of each side. Throw std::invalid_argument for options that do not fit.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::resp
