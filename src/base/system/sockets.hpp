// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <string_view>

#include "base/fd.hpp"

// On macOS a socket is made first and gets its flags afterwards; macOS lacks these names, and accept4().
#ifndef SOCK_NONBLOCK
#define SOCK_NONBLOCK 0x1000
#endif
#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC 0x2000
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0  // every socket has SO_NOSIGPIPE there
#endif

namespace joust {

// Makes a socket by socket(family, SOCK_STREAM), close-on-exec, and SOCK_NONBLOCK if `flags` have it. Not
// open, with errno set, where the call fails.
Fd stream_socket(int family, int flags);

// Makes such a socket of SOCK_DGRAM.
Fd datagram_socket(int family, int flags);

// Calls accept4() without the peer's address; `flags` are SOCK_NONBLOCK and SOCK_CLOEXEC. Fails as accept4()
// does.
int accept_socket(int listener, int flags);

// Returns true for the text of a loopback address without a port: "127.1.2.3", "::1", "::ffff:127.0.0.1".
// Returns false for shorter forms, such as "127.1", and for names.
bool is_loopback_address(std::string_view text);

}  // namespace joust
