// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "base/shares.hpp"
#include "connection/tally.hpp"
#include "joust/service.hpp"

namespace joust {

inline constexpr std::string_view kGaveWay =
    "connections were ended to make room for others: their address had most of all that there are";
// Of a connection that has given way; of one for which there is no place.
Failure gave_way();
std::system_error no_place();

// What the peers of a server hold of it: its connections, each of which costs descriptors and memory. At the
// limit, and where the machine runs short of something, connections of the address that has most are ended,
// so that no address can keep out the others. See Shares for who gives way to whom. Any thread.
class Account {
 public:
  Account(std::size_t connections, Tally& tally) : connections_(connections), tally_(tally) {}

  Shares& connections() { return connections_; }
  Tally& tally() { return tally_; }

  // Nobody can be accepted: descriptors or threads have run out, for example. Idle connections give way.
  void short_of_places(Time now);
  // Memory has run short: connections give way until those that do have this part of it (0 to 1).
  void short_of_memory(double part);

  // How many connections more than the limit may be open, until those that give way are gone.
  static constexpr std::size_t kSpare = 2 * Shares::kTogether;

 private:
  Shares connections_;
  Tally& tally_;
};

// The place of one connection in the account, from before its session is made until the connection has ended.
class ConnectionPlace : public Shares::Holder, public Breakable {
 public:
  using Holder::Holder;
  bool broken_off() const { return broken_off_.load(std::memory_order_relaxed); }

 protected:
  std::atomic<bool> broken_off_{false};
};

}  // namespace joust
