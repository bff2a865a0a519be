// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "joust/protocol.hpp"

namespace joust::work {

std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::work
