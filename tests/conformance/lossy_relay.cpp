// SPDX-License-Identifier: MIT
#include "conformance/lossy_relay.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "conformance/group_sockets.hpp"
#include "conformance/peer.hpp"
#include "engines/udp/peer.hpp"

namespace joust::conformance {

namespace {

// A full buffer is a loss.
Fd not_blocking(Fd socket) {
  checked(::fcntl(socket.get(), F_SETFL, O_NONBLOCK), "fcntl(F_SETFL)");
  return socket;
}

}  // namespace

LossyRelay::LossyRelay(const Endpoint& server, const LossyLink::Faults& faults, std::uint64_t seed)
    : server_(server),
      faults_(faults),
      seed_(seed),
      socket_(not_blocking(group_sender())),
      to_all_(faults, seed * 1000 + 999) {
  if (is_group(server)) joins_ = not_blocking(group_member(with_port(server, 0)));
  own_ = bound_address(is_group(server) ? joins_.get() : socket_.get());
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

LossyRelay::~LossyRelay() {
  thread_.request_stop();
  thread_.join();
}

void LossyRelay::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> sockets;
    for (const Fd* own : {&socket_, &joins_, &sent_to_all_})
      sockets.push_back({.fd = own->get(), .events = POLLIN, .revents = 0});
    for (const Way& way : ways_)
      sockets.push_back({.fd = way.to_server.get(), .events = POLLIN, .revents = 0});
    ::poll(sockets.data(), sockets.size(), 1);  // what is held back has no descriptor
    receive_from_clients(socket_.get());
    receive_from_clients(joins_.get());
    for (Way& way : ways_) pass_on(way);
    pass_on_to_all();
  }
}

void LossyRelay::receive_from_clients(int socket) {
  std::vector<std::byte> buffer(1 << 16);
  Endpoint from;
  for (ssize_t n = 0; (n = receive_datagram(socket, buffer, from)) >= 0;)
    way_of(from).there.send(Bytes(buffer).first(static_cast<std::size_t>(n)), Clock::now());
}

// Errors are losses.
void LossyRelay::pass_on(Way& way) {
  std::vector<std::byte> buffer(1 << 16);
  Endpoint from;
  const Time now = Clock::now();
  for (ssize_t n = 0; (n = receive_datagram(way.to_server.get(), buffer, from)) >= 0;) {
    if (!way.connected) find_server(way, from);
    way.back.send(Bytes(buffer).first(static_cast<std::size_t>(n)), now);
  }
  while (const auto datagram = way.there.receive(now))
    if (way.connected)
      ::send(way.to_server.get(), datagram->data(), datagram->size(), 0);
    else
      ::sendto(way.to_server.get(), datagram->data(), datagram->size(), 0, server_.raw(), server_.size);
  while (const auto datagram = way.back.receive(now))
    ::sendto(socket_.get(), datagram->data(), datagram->size(), 0, way.client.raw(), way.client.size);
}

// The server of a group has answered.
void LossyRelay::find_server(Way& way, const Endpoint& answered_from) {
  checked(::connect(way.to_server.get(), answered_from.raw(), answered_from.size), "connect()");
  way.connected = true;
  if (!sent_to_all_.is_open())
    sent_to_all_ = not_blocking(group_member(with_port(server_, port_of(answered_from))));
}

void LossyRelay::pass_on_to_all() {
  if (!sent_to_all_.is_open()) return;
  std::vector<std::byte> buffer(1 << 16);
  Endpoint from;
  const Time now = Clock::now();
  const Endpoint all = with_port(own_, port_of(bound_address(socket_.get())));
  for (ssize_t n = 0; (n = receive_datagram(sent_to_all_.get(), buffer, from)) >= 0;)
    to_all_.send(Bytes(buffer).first(static_cast<std::size_t>(n)), now);
  while (const auto datagram = to_all_.receive(now))
    ::sendto(socket_.get(), datagram->data(), datagram->size(), 0, all.raw(), all.size);
}

LossyRelay::Way& LossyRelay::way_of(const Endpoint& client) {
  const auto found = std::ranges::find_if(ways_, [&](const Way& way) { return way.client == client; });
  if (found != ways_.end()) return *found;
  Fd socket = not_blocking(group_sender());
  const bool connects = !is_group(server_);
  if (connects) checked(::connect(socket.get(), server_.raw(), server_.size), "connect()");
  const std::uint64_t seed = seed_ * 1000 + 2 * ways_.size();
  return ways_.emplace_back(client, std::move(socket), connects, LossyLink(faults_, seed),
                            LossyLink(faults_, seed + 1));
}

}  // namespace joust::conformance
