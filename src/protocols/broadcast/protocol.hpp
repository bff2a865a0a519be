// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "joust/protocol.hpp"
#include "joust/service.hpp"

namespace joust::broadcast {

// Make the two sides of the protocol. make_server() throws std::invalid_argument for invalid options.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);
// Throws std::invalid_argument for options of a client that do not fit.
void check_client(const Parameters& parameters);

}  // namespace joust::broadcast
