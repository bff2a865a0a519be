// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "joust/protocol.hpp"

namespace joust::script {

// The service of each side. Throw std::invalid_argument for options that do not fit.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::script
