// SPDX-License-Identifier: MIT
#include "conformance/lossy_relay.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "conformance/peer.hpp"

namespace joust::conformance {

LossyRelay::LossyRelay(const Endpoint& server, const LossyLink::Faults& faults, std::uint64_t seed)
    : server_(server),
      faults_(faults),
      seed_(seed),
      socket_(checked(::socket(server.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket()")),
      own_(endpoint_of("127.0.0.1:0")) {
  checked(::bind(socket_.get(), own_.raw(), own_.size), "bind()");
  checked(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&own_.storage), &own_.size),
          "getsockname()");
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

LossyRelay::~LossyRelay() {
  thread_.request_stop();
  thread_.join();
}

void LossyRelay::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> sockets{{.fd = socket_.get(), .events = POLLIN, .revents = 0}};
    for (const Way& way : ways_)
      sockets.push_back({.fd = way.to_server.get(), .events = POLLIN, .revents = 0});
    ::poll(sockets.data(), sockets.size(), 1);  // what is held back has no descriptor
    receive_from_clients();
    for (Way& way : ways_) pass_on(way);
  }
}

void LossyRelay::receive_from_clients() {
  std::vector<std::byte> buffer(1 << 16);
  for (;;) {
    Endpoint from;
    from.size = sizeof from.storage;
    const ssize_t n = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), 0,
                                 reinterpret_cast<sockaddr*>(&from.storage), &from.size);
    if (n < 0) return;
    way_of(from).there.send(Bytes(buffer).first(static_cast<std::size_t>(n)), Clock::now());
  }
}

// Errors are losses.
void LossyRelay::pass_on(Way& way) {
  std::vector<std::byte> buffer(1 << 16);
  const Time now = Clock::now();
  for (ssize_t n = 0; (n = ::recv(way.to_server.get(), buffer.data(), buffer.size(), 0)) >= 0;)
    way.back.send(Bytes(buffer).first(static_cast<std::size_t>(n)), now);
  while (const auto datagram = way.there.receive(now))
    ::send(way.to_server.get(), datagram->data(), datagram->size(), 0);
  while (const auto datagram = way.back.receive(now))
    ::sendto(socket_.get(), datagram->data(), datagram->size(), 0, way.client.raw(), way.client.size);
}

LossyRelay::Way& LossyRelay::way_of(const Endpoint& client) {
  const auto found = std::ranges::find_if(ways_, [&](const Way& way) { return way.client == client; });
  if (found != ways_.end()) return *found;
  Fd socket(checked(::socket(server_.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket()"));
  checked(::connect(socket.get(), server_.raw(), server_.size), "connect()");
  const std::uint64_t seed = seed_ * 1000 + 2 * ways_.size();
  return ways_.emplace_back(client, std::move(socket), LossyLink(faults_, seed),
                            LossyLink(faults_, seed + 1));
}

}  // namespace joust::conformance
