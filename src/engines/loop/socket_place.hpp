// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "connection/account.hpp"

namespace joust {

// The place of a connection of a stream. To give way, it shuts the socket down in both directions: the engine
// then hears of the end as if the peer had gone. The socket may be closed while the place still exists.
class SocketPlace final : public ConnectionPlace {
 public:
  // Throws std::system_error if there is none for this peer.
  SocketPlace(Account& account, int socket, Time now);
  ~SocketPlace() override;

  void break_off() noexcept override;

 private:
  void give_way() noexcept override;

  Account& account_;
  const int socket_;
  const std::uint16_t port_;  // of the peer: another connection may have the socket's number later
};

}  // namespace joust
