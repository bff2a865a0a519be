// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "joust/service.hpp"
#include "joust/time.hpp"

namespace joust {

// A limited resource of a server, such as connections, places of uploads or bytes of memory, and the share of
// it that each address holds. No address can keep all of it: when a new holder would exceed the limit, the
// address that holds most gives way.
//
// - If that is another address, which holds more than the newcomer's, those of its holders end that have made
//   no progress for longest.
// - If it is the newcomer's own, or holds no more, only holders without progress for `patience` end. Without
//   any of these, the newcomer is refused.
//
// Several holders give way at once (`together`), because the search covers all holders of an address. Any
// thread.
class Shares {
 public:
  // A holder of a share. Its owner derives from this class, and frees the share in its own destructor, before
  // the members that give_way() uses are destroyed.
  class Holder {
   public:
    explicit Holder(PeerAddress address) : address_(address) {}
    virtual ~Holder() = default;
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

    // Reports progress: the peer has sent a request or taken a reply. Cheap, for every message.
    void made_progress(Time now) {
      progress_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    }
    // Reports the bytes of memory that it uses, as far as they are known. Cheap, for every message.
    void uses_memory(std::uint64_t bytes) { memory_.store(bytes, std::memory_order_relaxed); }
    PeerAddress address() const { return address_; }

   private:
    friend class Shares;
    std::uint64_t memory() const { return memory_.load(std::memory_order_relaxed); }

    // Makes the holder end soon: closes its connection, for example. Called once, under the lock of the
    // shares, by any thread: must neither block nor call the shares.
    virtual void give_way() noexcept = 0;
    // Returns false if give_way() would have no effect, so that another holder is chosen.
    virtual bool can_give_way() const noexcept { return true; }

    const PeerAddress address_;
    std::atomic<std::int64_t> progress_{0};  // time of the last progress, in ns of the clock
    std::atomic<std::uint64_t> memory_{0};   // bytes
    bool gives_way_ = false;
    std::size_t place_ = 0;  // among the holders of the address
  };

  explicit Shares(std::size_t limit, std::size_t together = kTogether,
                  Duration patience = std::chrono::seconds(1))
      : limit_(limit), together_(together), patience_(patience) {}
  Shares(const Shares&) = delete;
  Shares& operator=(const Shares&) = delete;

  // Takes a share for a new holder. Returns false if it is refused and holds nothing. A holder that gives way
  // ends later than this function returns, so for a while a little more than the limit is held.
  [[nodiscard]] bool take(Holder& holder, Time now);
  void free(Holder& holder);
  // Frees another resource that has run short and that holders use too: of the address with the most holders,
  // holders give way that have made no progress for `idle` (any holder, if `idle` is zero), until `count` do
  // in all.
  void relieve(std::size_t count, Duration idle, Time now);
  // Frees memory that has run short: holders give way until those that give way use `part` (0 to 1) of the
  // memory of all holders. The address that uses most comes first, until it uses no more than the next one.
  // Within an address the holder that uses most comes first.
  void relieve_memory(double part);
  // Returns the bytes used by holders that do not give way.
  std::uint64_t memory_of_staying();

  std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  std::size_t limit() const { return limit_; }
  std::uint64_t gave_way() const { return gave_way_.load(std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

  static constexpr std::size_t kTogether = 32;

 private:
  struct OfAddress {
    std::vector<Holder*> holders;
    std::size_t staying = 0;  // number of the holders that do not give way
  };
  using Addresses = std::map<PeerAddress, OfAddress>;

  std::size_t staying() const { return held() - leaving_; }
  bool make_room(const Holder& newcomer, Time now);
  OfAddress& greatest();
  std::vector<Holder*> idle_ones(const OfAddress& of, Time since, std::size_t most) const;
  void end(Holder& holder, OfAddress& of);

  const std::size_t limit_;
  const std::size_t together_;
  const Duration patience_;
  std::mutex mutex_;
  Addresses addresses_;
  std::size_t leaving_ = 0;  // number of holders that give way
  std::atomic<std::size_t> held_{0};
  std::atomic<std::uint64_t> gave_way_{0}, refused_{0};
};

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
