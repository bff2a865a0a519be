// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "connection/account.hpp"

namespace joust {

// The place of a connection of a stream. To give way, it resets the connection: the engine then hears of a
// reset, as if it were the peer's. The socket may be closed while the place still exists.
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
  const std::uint64_t identity_;  // another socket may have the number later
};

}  // namespace joust
