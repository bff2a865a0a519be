// SPDX-License-Identifier: MIT
#include "net/target.hpp"

#include <cerrno>

#include "base/check.hpp"
#include "base/system/sockets.hpp"
#include "net/address.hpp"

namespace joust {

bool is_full_backlog(int error, int family) {
  return family == AF_UNIX && error == EAGAIN;
}

Fd Target::make_socket(std::size_t index, int flags) const {
  const int family = endpoints_[index].family();
  Fd socket = socket_of(transport_, family, flags);
  checked(socket.get(), "socket() for {}", name_);
  apply(options_, socket.get(), transport_);
  if (sources_ > 1 && is_ipv4_loopback(endpoints_[index]))
    bind_to_source(socket.get(), next_source_.fetch_add(1, std::memory_order_relaxed) % sources_);
  return socket;
}

Failure Target::connect_failure(std::size_t index, int error) const {
  return {Stage::connect, error, to_text(endpoints_[index])};
}

SocketFacts Target::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_.value_or(SocketFacts{});
}

void Target::note_facts(int connection) const {
  const std::lock_guard lock(mutex_);
  if (!facts_) facts_ = read_back(connection);
}

void Target::note_facts(const SocketFacts& facts) const {
  const std::lock_guard lock(mutex_);
  if (!facts_) facts_ = facts;
}

}  // namespace joust
