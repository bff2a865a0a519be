// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "base/shares.hpp"

namespace joust {

// A share that a peer holds by its connections, until this object is destroyed. To give way, it ends the
// connections. Any thread.
class ConnectionShare final : public Shares::Holder {
 public:
  // Returns null if no share is free. Without a connection that can be ended, the share never gives way. The
  // shares are borrowed.
  static std::unique_ptr<ConnectionShare> take(Shares& shares, PeerAddress address,
                                               const std::weak_ptr<Breakable>& connection, Time now) {
    std::unique_ptr<ConnectionShare> share(new ConnectionShare(shares, address, connection));
    share->taken_ = shares.take(*share, now);
    return share->taken_ ? std::move(share) : nullptr;
  }
  // Adds a connection that holds the share too.
  void join(const std::weak_ptr<Breakable>& other) {
    const auto is_it = [&](const auto& each) {
      return !each.owner_before(other) && !other.owner_before(each);
    };
    const std::lock_guard lock(mutex_);
    if (std::ranges::any_of(connections_, is_it)) return;
    std::erase_if(connections_, [](const auto& each) { return each.expired(); });
    connections_.push_back(other);
  }
  ~ConnectionShare() override {
    if (taken_) shares_.free(*this);
  }

 private:
  ConnectionShare(Shares& shares, PeerAddress address, const std::weak_ptr<Breakable>& connection)
      : Holder(address), shares_(shares), connections_{connection} {}

  void give_way() noexcept override {
    const std::lock_guard lock(mutex_);
    for (const auto& each : connections_)
      if (const auto connection = each.lock()) connection->break_off();
  }
  bool can_give_way() const noexcept override {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(connections_, [](const auto& each) { return !each.expired(); });
  }

  Shares& shares_;
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<Breakable>> connections_;
  bool taken_ = false;
};

}  // namespace joust
