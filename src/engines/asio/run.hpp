// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "engines/asio/hub.hpp"
#include "engines/engine.hpp"
#include "engines/files/file_input.hpp"

namespace joust {

// Engine::run for an engine on Asio with this number of contexts, and -t threads. `contexts` is either the
// number of threads (each thread has its own context) or 1 (all threads share one).
void run_asio(const Hosting& hosting, Stop& stop, std::size_t contexts, const AsioHub::MakePeer& make);

// The value of Engine::wait_errors_ignored in the descriptors.
inline constexpr std::string_view kWaitErrorsIgnored = "the library does not look at the result of its wait";

// Returns the file input of the calling thread, which must be a thread of run_asio().
FileInput& file_input_here();

}  // namespace joust
