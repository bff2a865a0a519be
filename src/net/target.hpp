// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "joust/session.hpp"
#include "net/address.hpp"
#include "net/socket_options.hpp"

namespace joust {

// Returns whether connect() failed because the accept queue of a unix socket is full. Non-blocking sockets
// get this error at once, blocking ones when their send timeout has passed. The peer exists, and another try
// may succeed. (A TCP connect waits in the kernel instead, which repeats its SYN.)
bool is_full_backlog(int error, int family);

// The server to dial, with the scenario's socket options. Several endpoints are tried in turn. All methods:
// any thread.
class Target {
 public:
  Target(std::string name, std::vector<Endpoint> endpoints, SocketOptions options,
         Transport transport = Transport::stream)
      : name_(std::move(name)),
        endpoints_(std::move(endpoints)),
        options_(std::move(options)),
        transport_(transport) {}

  const std::string& name() const { return name_; }
  std::size_t endpoints() const { return endpoints_.size(); }
  const Endpoint& endpoint(std::size_t index) const { return endpoints_[index]; }
  const SocketOptions& options() const { return options_; }

  // Spreads connections within IPv4 loopback over this many source addresses in turn; see sources_for(). Call
  // before any socket is made.
  void spread_over(std::uint64_t sources) { sources_ = sources; }

  // Makes a socket for the endpoint, with the options set, not connected yet; `flags` as in socket(2). Throws
  // std::system_error if no socket can be made.
  Fd make_socket(std::size_t index, int flags) const;

  Failure connect_failure(std::size_t index, int error) const;

  // Returns the options, read from the kernel, of the first socket that was connected.
  SocketFacts facts() const;
  void note_facts(int connection) const;
  void note_facts(const SocketFacts& facts) const;  // keeps the facts of the first socket only

 private:
  std::string name_;
  std::vector<Endpoint> endpoints_;
  SocketOptions options_;
  Transport transport_;
  std::uint64_t sources_ = 1;
  mutable std::atomic<std::uint64_t> next_source_ = 0;
  mutable std::mutex mutex_;
  mutable std::optional<SocketFacts> facts_;
};

}  // namespace joust
