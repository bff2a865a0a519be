// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <thread>

#include "base/fd.hpp"
#include "message/lossy_link.hpp"
#include "net/address.hpp"

namespace joust::conformance {

// A lossy link between real sockets: what clients send to its address goes on to the server, from a socket
// for each client, and the answers come back, with the faults of a LossyLink in each direction.
class LossyRelay {
 public:
  LossyRelay(const Endpoint& server, const LossyLink::Faults& faults, std::uint64_t seed);
  ~LossyRelay();
  LossyRelay(const LossyRelay&) = delete;
  LossyRelay& operator=(const LossyRelay&) = delete;

  const Endpoint& endpoint() const { return own_; }

 private:
  struct Way {
    Endpoint client;
    Fd to_server;
    LossyLink there, back;
  };

  void run(const std::stop_token& stop);
  void receive_from_clients();
  void pass_on(Way& way);
  Way& way_of(const Endpoint& client);

  const Endpoint server_;
  const LossyLink::Faults faults_;
  const std::uint64_t seed_;
  Fd socket_;
  Endpoint own_;
  std::deque<Way> ways_;
  std::jthread thread_;
};

}  // namespace joust::conformance
