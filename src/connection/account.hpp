// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/shares.hpp"
#include "connection/tally.hpp"
#include "joust/service.hpp"
#include "joust/time.hpp"

namespace joust {

inline constexpr std::string_view kGaveWay =
    "connections were ended to make room for others: their address had most of all that there are";
// Return the failure of a connection that has given way, and that of one for which no place is free.
Failure gave_way();
std::system_error no_place();

// The resources of a server that its peers hold: its connections, each of which costs descriptors and memory.
// At the limit, and when the machine runs short of a resource, connections of the address that has most are
// ended, so that no address can keep out the others. Shares decides which holder gives way. Any thread.
class Account {
 public:
  Account(std::size_t connections, Tally& tally) : connections_(connections), tally_(tally) {}

  Shares& connections() { return connections_; }
  Tally& tally() { return tally_; }

  // Ends idle connections when no further one can be accepted, for example because descriptors or threads
  // have run out. May be called at any rate.
  void short_of_places(Time now);
  // Ends connections when memory has run short, until those that give way use `part` (0 to 1) of it.
  void short_of_memory(double part);

  // The number of connections beyond the limit that may be open until those that give way have ended.
  static constexpr std::size_t kSpare = 2 * Shares::kTogether;

 private:
  Shares connections_;
  Tally& tally_;
  std::atomic<Time> relieved_{Time{}};  // the last time at which idle connections were ended
};

// The place of one connection in the account, from before its session is made until the connection has ended.
class ConnectionPlace : public Shares::Holder, public Breakable {
 public:
  using Holder::Holder;
  bool broken_off() const { return broken_off_.load(std::memory_order_relaxed); }

 protected:
  std::atomic<bool> broken_off_{false};
};

// The reports of a connection to its place, if it has one. The memory of the place is another one than that
// of the connection, so a report is written only where it tells the account something. One thread at a time.
class PlaceReports {
 public:
  explicit PlaceReports(std::shared_ptr<ConnectionPlace> place) : place_(std::move(place)) {}

  explicit operator bool() const { return place_ != nullptr; }
  bool broken_off() const { return place_ && place_->broken_off(); }
  void made_progress(Time now) {
    if (!place_ || now < told_ + kProgressEvery) return;
    told_ = now;
    place_->made_progress(now);
  }
  void uses_memory(std::uint64_t bytes) {
    if (!place_ || (bytes <= memory_ && bytes + kFewMessages > memory_)) return;
    memory_ = bytes;
    place_->uses_memory(bytes);
  }

 private:
  // Who is idle is known by seconds.
  static constexpr Duration kProgressEvery = std::chrono::milliseconds(10);
  // Bytes by which the account may have too much.
  static constexpr std::uint64_t kFewMessages = 1 << 10;

  const std::shared_ptr<ConnectionPlace> place_;
  Time told_{};               // of progress
  std::uint64_t memory_ = 0;  // bytes that the account knows of
};

// Returns how many connections beyond this limit a server with an account may have until those that give way
// have ended: few if the limit is small.
inline std::size_t spare_places(std::size_t connections) {
  return std::min(Account::kSpare, connections / 8 + 1);
}

}  // namespace joust
