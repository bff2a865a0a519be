// SPDX-License-Identifier: MIT
//
// The rows of the engines that need Linux, for the systems on which their files are not compiled
// (CMakeLists.txt). A command can name these engines there, and reports why they do not run.
#include "engines/engine.hpp"
#include "engines/io_uring/available.hpp"

namespace joust {
namespace {

std::string no_epoll() {
  return "epoll is the interface of Linux; kqueue is its counterpart here";
}
std::string no_pidfds() {
  return "its parent process watches the others through pidfds, which only Linux has";
}
std::string no_datagrams() {
  return "the engines on UDP wait with epoll, which only Linux has";
}
std::string no_zeromq() {
  return "the engines on ZeroMQ wait with epoll, which only Linux has";
}

constexpr Engine row(std::string_view name, std::string (*reason)()) {
  return {.name = name, .summary = "for Linux only", .threads = "-", .unavailable = reason};
}

}  // namespace

// The engines on Boost.Asio call these two functions too: their knob asio-backend has the choice io-uring.
std::string uring_unavailable(RingSize /*size*/) {
  return uring_unavailable();
}
std::string refused_call(std::string_view call, int /*error*/, RingSize /*size*/) {
  return std::string(call);
}
std::string uring_unavailable() {
  return "io_uring is an interface of Linux";
}

extern constinit const Engine kEpoll = row("epoll", no_epoll);
extern constinit const Engine kEpollPool = row("epoll-pool", no_epoll);
extern constinit const Engine kCoroutines = row("coroutines", no_epoll);
extern constinit const Engine kIoUring = row("io-uring", uring_unavailable);
extern constinit const Engine kIoUringPool = row("io-uring-pool", uring_unavailable);
extern constinit const Engine kProcesses = row("processes", no_pidfds);
extern constinit const Engine kTwoProcesses = row("two-processes", no_pidfds);
extern constinit const Engine kUdpBatched = row("udp-batched", no_datagrams);
extern constinit const Engine kUdpCoroutines = row("udp-coroutines", no_datagrams);
extern constinit const Engine kUdpMulticast = row("udp-multicast", no_datagrams);
extern constinit const Engine kUdpReuseport = row("udp-reuseport", no_datagrams);
extern constinit const Engine kZeroMq = row("zeromq", no_zeromq);
extern constinit const Engine kZeroMqPool = row("zeromq-pool", no_zeromq);

}  // namespace joust
