// SPDX-License-Identifier: MIT
#pragma once

// What only coroutines need of the library. The settings come first.
#include "engines/asio/library.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>

namespace joust::JOUST_ASIO_BUILD {

using AsioTask = asio::awaitable<void, AsioExecutor>;

// co_await then returns the error with the result, in place of an exception.
inline constexpr asio::as_tuple_t<asio::deferred_t> kAsioResults;

}  // namespace joust::JOUST_ASIO_BUILD
