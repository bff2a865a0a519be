// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "net/address.hpp"
#include "net/stop.hpp"

namespace joust::conformance {

// A server of echo that dies like a process that is killed, and comes back at the same address.
class MortalServer {
 public:
  MortalServer();
  ~MortalServer() { die(); }
  MortalServer(const MortalServer&) = delete;
  MortalServer& operator=(const MortalServer&) = delete;

  const Endpoint& endpoint() const { return endpoint_; }
  std::uint64_t bytes() const { return bytes_; }  // sent back so far

  void die();  // nobody listens any more, and all connections are reset
  void live();

 private:
  void serve();
  bool answer(int socket);

  Endpoint endpoint_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> dying_{false};
  Waker waker_;
  Fd listener_;
  std::vector<Fd> peers_;
  std::jthread thread_;
};

}  // namespace joust::conformance
