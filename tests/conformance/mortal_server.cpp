// SPDX-License-Identifier: MIT
#include "conformance/mortal_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/check.hpp"
#include "conformance/peer.hpp"

namespace joust::conformance {
namespace {

void set_option(int socket, int option, const auto& value) {
  checked(::setsockopt(socket, SOL_SOCKET, option, &value, sizeof value), "setsockopt({})", option);
}

// Returns an address of this process. While the server is dead its port is free, and the kernel may give it
// to a server of another test at the usual address.
std::string own_address() {
#ifdef __linux__
  return fmt::format("127.1.{}.{}:0", ::getpid() / 250 % 250 + 1, ::getpid() % 250 + 1);
#else
  return "127.0.0.1:0";
#endif
}

}  // namespace

MortalServer::MortalServer() : endpoint_(endpoint_of(own_address())) {
  live();
}

void MortalServer::live() {
  dying_ = false;
  waker_.clear();
  listener_ = Fd(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket()"));
  set_option(listener_.get(), SO_REUSEADDR, 1);
  // A process that an engine has just forked holds the old listener until it has closed what it inherited.
  const Time give_up = Clock::now() + kPatience;
  while (::bind(listener_.get(), endpoint_.raw(), endpoint_.size) < 0) {
    if (errno != EADDRINUSE || Clock::now() > give_up) checked(-1, "bind()");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  checked(::listen(listener_.get(), 1000), "listen()");
  checked(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&endpoint_.storage), &endpoint_.size),
          "getsockname()");
  thread_ = std::jthread([this] { serve(); });
}

void MortalServer::die() {
  if (!thread_.joinable()) return;
  dying_ = true;
  waker_.wake();
  thread_.join();
  listener_.close();
  for (const Fd& peer : peers_) set_option(peer.get(), SO_LINGER, linger{.l_onoff = 1, .l_linger = 0});
  peers_.clear();
}

void MortalServer::serve() {
  std::vector<pollfd> events;
  while (!dying_) {
    events.assign({{waker_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}});
    for (const Fd& peer : peers_) events.push_back({peer.get(), POLLIN, 0});
    if (::poll(events.data(), events.size(), -1) < 0) continue;
    for (std::size_t i = peers_.size(); i > 0; --i)
      if (events[i + 1].revents != 0 && !answer(events[i + 1].fd))
        peers_.erase(peers_.begin() + static_cast<std::ptrdiff_t>(i - 1));
    if (events[1].revents == 0) continue;
    Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer.is_open()) peers_.push_back(std::move(peer));
  }
}

// False when the connection is over.
bool MortalServer::answer(int socket) {
  std::array<char, 4096> bytes;
  const ssize_t n = ::recv(socket, bytes.data(), bytes.size(), 0);
  if (n <= 0 || ::send(socket, bytes.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL) != n) return false;
  bytes_ += static_cast<std::uint64_t>(n);
  return true;
}

}  // namespace joust::conformance
