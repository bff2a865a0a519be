// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "base/shares.hpp"

namespace joust {

// A share that a peer holds by a connection, until this is destroyed. To give way, the connection ends.
class ConnectionShare final : public Shares::Holder {
 public:
  // Null if there is none. Without a connection that can be ended it never gives way. The shares are
  // borrowed.
  static std::unique_ptr<ConnectionShare> take(Shares& shares, PeerAddress address,
                                               const std::weak_ptr<Breakable>& connection, Time now) {
    std::unique_ptr<ConnectionShare> share(new ConnectionShare(shares, address, connection));
    share->taken_ = shares.take(*share, 1, now);
    return share->taken_ ? std::move(share) : nullptr;
  }
  ~ConnectionShare() override {
    if (taken_) shares_.free(*this);
  }

 private:
  ConnectionShare(Shares& shares, PeerAddress address, const std::weak_ptr<Breakable>& connection)
      : Holder(address), shares_(shares), connection_(connection) {}

  void give_way() noexcept override {
    if (const auto connection = connection_.lock()) connection->break_off();
  }
  bool can_give_way() const noexcept override { return !connection_.expired(); }

  Shares& shares_;
  const std::weak_ptr<Breakable> connection_;
  bool taken_ = false;
};

}  // namespace joust
