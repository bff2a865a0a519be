// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "engines/asio/hub.hpp"
#include "engines/engine.hpp"
#include "engines/files/file_input.hpp"

namespace joust::JOUST_ASIO_BUILD {

// Engine::run for an engine on Asio with this number of contexts, and -t threads. `contexts` is either the
// number of threads (each thread has its own context) or 1 (all threads share one).
void run_asio(const Hosting& hosting, Stop& stop, std::size_t contexts, const AsioHub::MakePeer& make);

// Returns the file input of the calling thread, which must be a thread of run_asio().
FileInput& file_input_here();

}  // namespace joust::JOUST_ASIO_BUILD
