// SPDX-License-Identifier: MIT
//
// The rows of the engines on Boost.Asio, where it was not found at build time.
#include "engines/engine.hpp"

namespace joust {
namespace {

std::string no_asio() {
  return "Boost 1.81 or newer not found at build time: script/setup asio && script/build";
}

constexpr std::string_view kThreads = "-";

}  // namespace

extern const Engine kAsioPool{.name = "asio-pool",
                              .summary = "Boost.Asio: callbacks, one io_context run by several threads",
                              .threads = kThreads,
                              .unavailable = no_asio};
extern const Engine kAsioCoroutines{.name = "asio-coroutines",
                                    .summary = "Boost.Asio: C++20 coroutines, an io_context per thread",
                                    .threads = kThreads,
                                    .unavailable = no_asio};

}  // namespace joust
