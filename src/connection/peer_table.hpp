// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/bytes.hpp"
#include "joust/bytes.hpp"

namespace joust {

// The peers of one socket by their addresses, which are the bytes that a transport distinguishes them by.
// Only confirmed peers are in the table. Its hash has a key, so that an attacker cannot choose addresses with
// the same hash. Borrows the peers. One thread.
template <typename Peer>
class PeerTable {
 public:
  explicit PeerTable(const HashKey& key) : peers_(0, Hash{key}) {}

  // Returns null if no peer has this address.
  Peer* find(Bytes address) const {
    const auto found = peers_.find(as_text(address));
    return found == peers_.end() ? nullptr : found->second;
  }
  // Adds a peer, in place of another peer with this address.
  void add(Bytes address, Peer& peer) { peers_.insert_or_assign(std::string(as_text(address)), &peer); }
  // Removes a peer. Does nothing if another peer has this address.
  void remove(Bytes address, const Peer& peer) {
    const auto found = peers_.find(as_text(address));
    if (found != peers_.end() && found->second == &peer) peers_.erase(found);
  }
  std::size_t size() const { return peers_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view address) const { return keyed_hash(key, as_bytes(address)); }
    HashKey key;
  };

  std::unordered_map<std::string, Peer*, Hash, std::equal_to<>> peers_;
};

}  // namespace joust
