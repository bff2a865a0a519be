// SPDX-License-Identifier: MIT
#include "measure/softirq_time.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <ctime>

#include "base/fd.hpp"
#include "base/system/sockets.hpp"
#include "measure/environment.hpp"

namespace joust {
namespace {

// A part of 10 ms that other programs do not interrupt shows the true share.
constexpr int kParts = 20;
constexpr double kPart_s = 0.0005;

// The least share of a clock that counts everything; readings of the clocks take the rest.
constexpr double kAll = 0.9;

double now_s(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Connects a socket to itself. A datagram is received by the thread that has sent it.
bool connect_to_itself(int socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  return ::bind(socket, raw, size) == 0 && ::getsockname(socket, raw, &size) == 0 &&
         ::connect(socket, raw, size) == 0;
}

double share_of_a_part(int socket) {
  const double begun_s = now_s(CLOCK_MONOTONIC), cpu_begun_s = now_s(CLOCK_THREAD_CPUTIME_ID);
  double took_s = 0;
  char byte = 0;
  while ((took_s = now_s(CLOCK_MONOTONIC) - begun_s) < kPart_s) {
    if (::send(socket, &byte, 1, MSG_DONTWAIT) < 0 || ::recv(socket, &byte, 1, MSG_DONTWAIT) < 0) return 0;
  }
  return (now_s(CLOCK_THREAD_CPUTIME_ID) - cpu_begun_s) / took_s;
}

}  // namespace

std::optional<double> counted_share_of_sending() {
  const Fd socket = datagram_socket(AF_INET, 0);
  if (!socket.is_open() || !connect_to_itself(socket.get())) return std::nullopt;
  double greatest = 0;
  for (int part = 0; part < kParts; ++part) greatest = std::max(greatest, share_of_a_part(socket.get()));
  return greatest > 0 ? std::optional(greatest) : std::nullopt;
}

std::string softirq_time(std::optional<double> counted_share) {
  if (!counted_share) return "unknown";
  return *counted_share >= kAll ? kSoftirqInside : kSoftirqApart;
}

}  // namespace joust
