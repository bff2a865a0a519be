// SPDX-License-Identifier: MIT
//
// The rows of the engines that need Linux, for the systems on which their files are not compiled
// (CMakeLists.txt): there they can be named, and the reason why they do not run is told.
#include "engines/engine.hpp"

namespace joust {
namespace {

std::string no_epoll() {
  return "epoll is the interface of Linux; kqueue is its counterpart here";
}
std::string no_rings() {
  return "io_uring is an interface of Linux";
}
std::string no_pidfds() {
  return "its parent process watches the others through pidfds, which only Linux has";
}

std::string no_datagrams() {
  return "the engines on UDP wait with epoll, which only Linux has";
}

constexpr std::string_view kSummary = "for Linux only", kThreads = "-";

}  // namespace

extern const Engine kEpoll{
    .name = "epoll", .summary = kSummary, .threads = kThreads, .unavailable = no_epoll};
extern const Engine kEpollPool{
    .name = "epoll-pool", .summary = kSummary, .threads = kThreads, .unavailable = no_epoll};
extern const Engine kCoroutines{
    .name = "coroutines", .summary = kSummary, .threads = kThreads, .unavailable = no_epoll};
extern const Engine kIoUring{
    .name = "io-uring", .summary = kSummary, .threads = kThreads, .unavailable = no_rings};
extern const Engine kIoUringPool{
    .name = "io-uring-pool", .summary = kSummary, .threads = kThreads, .unavailable = no_rings};
extern const Engine kProcesses{
    .name = "processes", .summary = kSummary, .threads = kThreads, .unavailable = no_pidfds};
extern const Engine kTwoProcesses{
    .name = "two-processes", .summary = kSummary, .threads = kThreads, .unavailable = no_pidfds};
extern const Engine kUdpBatched{
    .name = "udp-batched", .summary = kSummary, .threads = kThreads, .unavailable = no_datagrams};
extern const Engine kUdpCoroutines{
    .name = "udp-coroutines", .summary = kSummary, .threads = kThreads, .unavailable = no_datagrams};
extern const Engine kUdpReuseport{
    .name = "udp-reuseport", .summary = kSummary, .threads = kThreads, .unavailable = no_datagrams};

}  // namespace joust
