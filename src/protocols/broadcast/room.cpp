// SPDX-License-Identifier: MIT
#include "protocols/broadcast/room.hpp"

#include "protocols/broadcast/wire.hpp"

namespace joust::broadcast {

std::shared_ptr<Seat> Room::join(std::uint32_t member, Time now) {
  if (member >= kMostMembers) return nullptr;
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Seat>& seat = members_[member];
  if (seat) {
    if (now - seat->spoke() < kHeldFor) return nullptr;
    seat->take_away();
    publications_.announce();
  }
  return seat = std::make_shared<Seat>(now);
}

void Room::leave(std::uint32_t member, const Seat& seat) {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(member);
  if (found != members_.end() && found->second.get() == &seat) members_.erase(found);
}

void Room::append(Bytes frame, Time now) {
  log_.append(frame, now);
  messages_.fetch_add(1, std::memory_order_relaxed);
}

ResultGroup Room::results() const {
  return {"room",
          {{"messages", messages_.load()},
           {"evicted", log_.given_up()},
           {"too_slow", too_slow_.load()},
           {"times_crowded", log_.times_crowded()}}};
}

}  // namespace joust::broadcast
