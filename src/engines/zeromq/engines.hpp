// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

#include "connection/datagram.hpp"
#include "engines/engine.hpp"

// Texts of the descriptors of the engines on ZeroMQ. Builds with and without the library use them.
namespace joust {

// Whole messages, in order, over TCP. The header of a datagram tells sessions apart, and its size has 2
// bytes.
inline constexpr Delivery kZmqDelivery{.kind = Delivery::Kind::message,
                                       .largest_message = kLargestDatagram - DatagramHead::kBytes};

inline constexpr std::string_view kIoThreads = "io-threads";
inline constexpr std::array<std::string_view, 3> kIoThreadCounts{"1", "2", "4"};
inline constexpr std::array kZmqKnobs{
    Knob{kIoThreads, kIoThreadCounts, "threads of the library that read and write the sockets"}};

inline constexpr std::string_view kHostilePeers =
    "ZeroMQ limits neither the parts of a message nor its connections, and its numbers of peers can be "
    "guessed";

inline constexpr Engine kZeroMqRow{
    .name = "zeromq",
    .summary = "ZeroMQ: ROUTER, DEALER, coroutines on one thread; no sender is held back alone",
    .delivery = kZmqDelivery,
    .files_each = 2,     // a mailbox, and the library's socket
    .files_of_dial = 1,  // asks whether anybody listens
    .threads = "one, and io-threads",
    .not_public = kHostilePeers,
    .knobs = kZmqKnobs,
};
inline constexpr Engine kZeroMqPoolRow{
    .name = "zeromq-pool",
    .summary = "ZeroMQ: a ROUTER and coroutines on each thread; no sender is held back alone",
    .delivery = kZmqDelivery,
    .files_each = 2,     // a mailbox, and the library's socket
    .files_of_dial = 1,  // asks whether anybody listens
    .several_loops = true,
    .threads = "-t, and io-threads",
    .not_public = kHostilePeers,
    .knobs = kZmqKnobs,
};

}  // namespace joust
