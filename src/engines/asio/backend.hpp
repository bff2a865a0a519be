// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "engines/engine.hpp"
#include "engines/io_uring/available.hpp"

// The descriptors of the engines on Boost.Asio: the knob that selects one of their two builds
// (asio/build.hpp), and the fields that they have in common.
namespace joust {

namespace on_epoll {
void run_asio_pool(const Hosting& hosting, Stop& stop);
void run_asio_coroutines(const Hosting& hosting, Stop& stop);
}  // namespace on_epoll

namespace on_io_uring {
void run_asio_pool(const Hosting& hosting, Stop& stop);
void run_asio_coroutines(const Hosting& hosting, Stop& stop);
}  // namespace on_io_uring

inline constexpr std::array<std::string_view, 2> kAsioBackends{"epoll", "io-uring"};

// The size of the ring that the library makes for each context.
inline constexpr RingSize kAsioRing{.submissions = 16'384, .completions = 32'768};

inline std::string no_asio_backend(std::string_view choice) {
  return choice == kAsioBackends.back() ? uring_unavailable(kAsioRing) : std::string();
}

inline constexpr std::array kAsioKnobs{Knob{.name = "asio-backend",
                                            .choices = kAsioBackends,
                                            .summary = "what Boost.Asio drives sockets by",
                                            .unavailable = no_asio_backend}};

// The value of Engine::wait_errors_ignored in the descriptors.
inline constexpr std::string_view kWaitErrorsIgnored = "the library does not look at the result of its wait";

// Engine::run of the descriptors: calls the build that the knob selects.
template <auto OnEpoll, auto OnIoUring>
void run_on_backend(const Hosting& hosting, Stop& stop) {
#ifdef JOUST_HAVE_LIBURING
  if (hosting.options.is("asio-backend", kAsioBackends.back())) return OnIoUring(hosting, stop);
#endif
  OnEpoll(hosting, stop);
}

}  // namespace joust
