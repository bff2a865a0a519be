// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "joust/protocol.hpp"
#include "joust/service.hpp"

namespace joust::file {

// Make the two sides of the protocol. Both throw std::invalid_argument for invalid options.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::file
