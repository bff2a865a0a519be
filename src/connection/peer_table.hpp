// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/keyed_hash.hpp"
#include "joust/bytes.hpp"

namespace joust {

// The peers of one socket by their addresses: the bytes by which a transport tells them apart. Only confirmed
// ones are in it. The hash has a key, so that nobody can choose addresses that all meet in one place. Borrows
// the peers. One thread.
template <typename Peer>
class PeerTable {
 public:
  explicit PeerTable(const HashKey& key) : peers_(0, Hash{key}) {}

  // Null where there is none.
  Peer* find(Bytes address) const {
    const auto found = peers_.find(as_text(address));
    return found == peers_.end() ? nullptr : found->second;
  }
  // In place of another one, where there is one.
  void add(Bytes address, Peer& peer) { peers_.insert_or_assign(std::string(as_text(address)), &peer); }
  // Does nothing where another one has its place.
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
