// SPDX-License-Identifier: MIT
#include "protocols/broadcast/room.hpp"

#include "protocols/broadcast/wire.hpp"

namespace joust::broadcast {

bool Room::join(std::uint32_t member) {
  const std::lock_guard lock(mutex_);
  return member < kMostMembers && members_.insert(member).second;
}

void Room::leave(std::uint32_t member) {
  const std::lock_guard lock(mutex_);
  members_.erase(member);
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
