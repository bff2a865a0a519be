// SPDX-License-Identifier: MIT
#pragma once

// The engines on Boost.Asio are compiled twice: with the library on epoll and, where liburing was found, on
// io_uring. The second build renames the library's namespace (CMakeLists.txt). This header names the
// namespace of our code. So one program contains both builds.
#ifndef JOUST_ASIO_BUILD
#define JOUST_ASIO_BUILD on_epoll
#endif

namespace joust::JOUST_ASIO_BUILD {

#ifdef BOOST_ASIO_HAS_IO_URING
inline constexpr bool kOnIoUring = true;
#else
inline constexpr bool kOnIoUring = false;
#endif

}  // namespace joust::JOUST_ASIO_BUILD
