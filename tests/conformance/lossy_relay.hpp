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
// for each client, and the answers come back, with the faults of a LossyLink in each direction. For a server
// whose address is a group, the relay's address is one too, and it passes on what the server sends to all.
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
    bool connected;
    LossyLink there, back;
  };

  void run(const std::stop_token& stop);
  void receive_from_clients(int socket);
  void pass_on(Way& way);
  void pass_on_to_all();
  void find_server(Way& way, const Endpoint& answered_from);
  Way& way_of(const Endpoint& client);

  const Endpoint server_;
  const LossyLink::Faults faults_;
  const std::uint64_t seed_;
  Fd socket_;  // to and from clients
  Fd joins_;   // a member of the group that is asked for
  Fd sent_to_all_;
  LossyLink to_all_;
  Endpoint own_;
  std::deque<Way> ways_;
  std::jthread thread_;
};

}  // namespace joust::conformance
