// SPDX-License-Identifier: MIT
#include "hosts/relay/connections.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.hpp"

namespace joust::hosts {
namespace {

constexpr int kMostSockets = 1024;  // of a relay; one for each other rank
// Open MPI looks at its sockets and timers in one call of eight, and once in 10 ms, until it has a
// connection.
constexpr Duration kSettling = std::chrono::milliseconds(100);
constexpr std::uint64_t kSettlingCalls = 64;

#ifdef POLLRDHUP
constexpr short kEndOfOther = POLLRDHUP;
#else
constexpr short kEndOfOther = 0;
#endif
constexpr short kHangUps = kEndOfOther | POLLHUP | POLLERR;

bool is_connected(int number) {
  sockaddr_storage other{};
  socklen_t length = sizeof other;
  return ::getpeername(number, reinterpret_cast<sockaddr*>(&other), &length) == 0;
}

ino_t inode_of(int number) {
  struct stat found {};
  return ::fstat(number, &found) == 0 ? found.st_ino : ino_t{};
}

bool is_tcp(int number) {
  int type = 0;
  socklen_t length = sizeof type;
  if (::getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) return false;
  sockaddr_storage own{};
  length = sizeof own;
  if (::getsockname(number, reinterpret_cast<sockaddr*>(&own), &length) != 0) return false;
  return own.ss_family == AF_INET || own.ss_family == AF_INET6;
}

void acknowledge(int number) {
#ifdef TCP_QUICKACK
  const int on = 1;
  ::setsockopt(number, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
#else
  static_cast<void>(number);
#endif
}

bool has_ended(int number) {
  pollfd one{number, kEndOfOther, 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & kHangUps) != 0;
}

bool listens(int number) {
  int on = 0;
  socklen_t length = sizeof on;
  return is_tcp(number) && ::getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &on, &length) == 0 && on != 0;
}

}  // namespace

void Connections::stop_listening() {
  if (has_stopped_listening_) return;
  const Fd silent(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!silent.is_open()) return;  // the next call may find a descriptor
  for (int number = STDERR_FILENO + 1; number < kMostSockets; ++number)
    if (listens(number)) ::dup3(silent.get(), number, O_CLOEXEC);
  has_stopped_listening_ = true;
}

bool Connections::refresh() {
  const std::set<State> states_before = std::exchange(states_, {});
  sockets_.clear();
  for (int number = STDERR_FILENO + 1; number < kMostSockets; ++number) {
    if (!is_tcp(number) || has_ended(number)) continue;
    acknowledge(number);
    const bool connected = is_connected(number);
    states_.emplace(inode_of(number), connected);
    sockets_.push_back({number, static_cast<short>(POLLIN | kEndOfOther | (connected ? 0 : POLLOUT)), 0});
  }
  refreshed_ = Clock::now();
  ++unchanged_;
  if (states_ != states_before) changed_ = refreshed_, unchanged_ = 0;
  return std::ranges::any_of(states_before, [this](const State& before) {
    return !states_.contains(before) && !states_.contains({before.first, true});
  });
}

bool Connections::are_settled() const {
  return unchanged_ >= kSettlingCalls && refreshed_ - changed_ >= kSettling;
}

bool Connections::wait(std::initializer_list<Other> others, Duration patience) {
  const auto patience_ms = std::chrono::ceil<std::chrono::milliseconds>(patience).count();
  const std::size_t of_mpi = sockets_.size();
  for (const Other& other : others)
    sockets_.push_back({other.number, static_cast<short>(other.is_full ? POLLIN | POLLOUT : POLLIN), 0});
  const bool is_any =
      ::poll(sockets_.data(), static_cast<nfds_t>(sockets_.size()), static_cast<int>(patience_ms)) > 0;
  sockets_.resize(of_mpi);
  if (!is_any) return false;
  return std::ranges::any_of(sockets_, [](const pollfd& one) { return (one.revents & kHangUps) != 0; });
}

}  // namespace joust::hosts
