// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>

#include "engines/asio/hub.hpp"
#include "engines/engine.hpp"

namespace joust {

// Engine::run for an engine on Asio with so many contexts, and -t threads: a context of its own for each, or
// one for all.
void run_asio(const Hosting& hosting, Stop& stop, std::size_t contexts, const AsioHub::MakePeer& make);

}  // namespace joust
