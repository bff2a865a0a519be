// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "engines/asio/hub.hpp"
#include "engines/engine.hpp"
#include "engines/files/file_input.hpp"

namespace joust::JOUST_ASIO_BUILD {

// Engine::run for an engine on Asio with so many contexts, and -t threads: a context of its own for each, or
// one for all.
void run_asio(const Hosting& hosting, Stop& stop, std::size_t contexts, const AsioHub::MakePeer& make);

// Of the calling thread, which is one of run_asio().
FileInput& file_input_here();

}  // namespace joust::JOUST_ASIO_BUILD
