// SPDX-License-Identifier: MIT
#pragma once

// Includes the headers of the library that only coroutines need. The settings come first.
#include "engines/asio/library.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>

namespace joust {

using AsioTask = asio::awaitable<void, AsioExecutor>;

// A completion token: co_await returns the error with the result, in place of an exception.
inline constexpr asio::as_tuple_t<asio::deferred_t> kAsioResults;

}  // namespace joust
