// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "connection/account.hpp"

namespace joust {

// The place of a stream connection in the server's account. To give way, it resets the connection: the engine
// then detects a reset, as if the peer had caused it. The socket may be closed while the place still exists.
class SocketPlace final : public ConnectionPlace {
 public:
  // Throws std::system_error if the account has no place for this peer.
  SocketPlace(Account& account, int socket, Time now);
  ~SocketPlace() override;

  void break_off() noexcept override;

 private:
  void give_way() noexcept override;

  Account& account_;
  const int socket_;
  const std::uint64_t identity_;  // another socket may get the same descriptor later
};

}  // namespace joust
