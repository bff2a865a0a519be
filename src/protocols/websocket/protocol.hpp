// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "joust/protocol.hpp"
#include "joust/service.hpp"

namespace joust::websocket {

// Make the two sides of the protocol. The client throws std::invalid_argument for options that do not fit.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::websocket
