// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hostile/chance.hpp"
#include "joust/bytes.hpp"
#include "joust/time.hpp"

namespace joust {

// One direction of an unreliable network, under virtual time: datagrams that were sent, until they arrive.
// The same seed and the same calls give the same faults.
class LossyLink {
 public:
  // Of 1,000 datagrams, how many have each fault on average. One datagram may have several.
  struct Faults {
    unsigned lost = 0;
    unsigned duplicated = 0;
    unsigned reordered = 0;  // held back for `hold`, so that later ones overtake
    unsigned truncated = 0;
    unsigned flipped = 0;  // one bit
    Duration delay{};      // of every datagram
    Duration hold = std::chrono::milliseconds(5);
  };
  struct Counts {
    std::uint64_t sent = 0, bytes = 0;  // by the sender
    std::uint64_t lost = 0, duplicated = 0, reordered = 0, truncated = 0, flipped = 0;
    std::uint64_t arrived = 0;
  };

  LossyLink() : LossyLink(Faults{}, 0) {}
  LossyLink(const Faults& faults, std::uint64_t seed) : faults_(faults), chance_(seed, 0) {}

  void change(const Faults& faults) { faults_ = faults; }  // of datagrams sent later

  void send(Bytes datagram, Time now) {
    ++counts_.sent;
    counts_.bytes += datagram.size();
    if (befalls(faults_.lost, counts_.lost)) return;
    put(datagram, now);
    if (befalls(faults_.duplicated, counts_.duplicated)) put(datagram, now);
  }

  // The next datagram that has arrived by `now`.
  std::optional<std::vector<std::byte>> receive(Time now) {
    if (on_the_way_.empty() || on_the_way_.begin()->first > now) return std::nullopt;
    ++counts_.arrived;
    return std::move(on_the_way_.extract(on_the_way_.begin()).mapped());
  }

  std::optional<Time> next_arrival() const {
    return on_the_way_.empty() ? std::nullopt : std::optional(on_the_way_.begin()->first);
  }
  const Counts& counts() const { return counts_; }

 private:
  bool befalls(unsigned of_thousand, std::uint64_t& count) {
    if (of_thousand == 0 || chance_.below(1000) >= of_thousand) return false;
    ++count;
    return true;
  }

  void put(Bytes sent, Time now) {
    std::vector<std::byte> datagram(sent.begin(), sent.end());
    if (!datagram.empty() && befalls(faults_.truncated, counts_.truncated))
      datagram.resize(chance_.below(datagram.size()));
    if (!datagram.empty() && befalls(faults_.flipped, counts_.flipped))
      datagram[chance_.below(datagram.size())] ^= std::byte{1} << chance_.below(8);
    const bool held = befalls(faults_.reordered, counts_.reordered);
    on_the_way_.emplace(now + faults_.delay + (held ? faults_.hold : Duration{}), std::move(datagram));
  }

  Faults faults_;
  hostile::Chance chance_;
  Counts counts_;
  std::multimap<Time, std::vector<std::byte>> on_the_way_;  // by arrival; equal times in the order of sending
};

}  // namespace joust
