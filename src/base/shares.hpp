// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "joust/service.hpp"
#include "joust/time.hpp"

namespace joust {

// One thing of which a server has a limited amount, such as connections, places of uploads or bytes of
// memory, and how much of it each address holds. No address can keep it all: where a new holder would go
// beyond the limit, the address that holds most gives way.
//
// - If that is another address than the newcomer's, the holders of it that have made no progress for longest
//   end.
// - If it is the newcomer's own, only holders that have made no progress for `patience` end. If there are
//   none, the newcomer is refused.
//
// Several holders give way at once (`together`), because the search looks at all of an address. Any thread.
class Shares {
 public:
  // Somebody who holds a share. Its owner derives from it, and frees it in its own destructor, before
  // give_way() would have nothing to act on.
  class Holder {
   public:
    explicit Holder(PeerAddress address) : address_(address) {}
    virtual ~Holder() = default;
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

    // The peer has done something that counts: sent a request, taken a reply. Cheap, for every message.
    void made_progress(Time now) {
      progress_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    }
    // The bytes of memory that it uses, as far as is known. Cheap, for every message.
    void uses_memory(std::uint64_t bytes) { memory_.store(bytes, std::memory_order_relaxed); }
    PeerAddress address() const { return address_; }

   private:
    friend class Shares;
    std::uint64_t memory() const { return memory_.load(std::memory_order_relaxed); }

    // Makes the holder end soon: closes its connection, for example. Called once, under the lock of the
    // shares, by any thread: must neither block nor call the shares.
    virtual void give_way() noexcept = 0;
    // False where that would change nothing, so that another one is asked.
    virtual bool can_give_way() const noexcept { return true; }

    const PeerAddress address_;
    std::atomic<std::int64_t> progress_{0};  // when, in ns of the clock
    std::atomic<std::uint64_t> memory_{0};   // bytes
    bool gives_way_ = false;
    std::size_t place_ = 0;  // among the holders of the address
  };

  explicit Shares(std::size_t limit, std::size_t together = kTogether,
                  Duration patience = std::chrono::seconds(1))
      : limit_(limit), together_(together), patience_(patience) {}
  Shares(const Shares&) = delete;
  Shares& operator=(const Shares&) = delete;

  // Takes a share for a new holder. False: refused, it holds nothing. A holder gives way later than this
  // returns: until it is freed, a little more than the limit is held.
  [[nodiscard]] bool take(Holder& holder, Time now);
  void free(Holder& holder);
  // Something else than this has run short, and holders use it too: of the address that has most, up to
  // `count` holders give way, of those that have made no progress for `idle` (any, if that is zero).
  void relieve(std::size_t count, Duration idle, Time now);
  // Memory has run short: holders give way until those that do have `part` (0 to 1) of what all of them use.
  // The address that uses most comes first, down to what the next one uses, and of an address the holder that
  // uses most.
  void relieve_memory(double part);
  // The bytes that holders use which do not give way.
  std::uint64_t memory_of_staying();

  std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  std::size_t limit() const { return limit_; }
  std::uint64_t gave_way() const { return gave_way_.load(std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

  static constexpr std::size_t kTogether = 32;

 private:
  struct OfAddress {
    std::vector<Holder*> holders;
    std::size_t staying = 0;  // of them, those that do not give way
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
  std::size_t leaving_ = 0;  // of those that give way
  std::atomic<std::size_t> held_{0};
  std::atomic<std::uint64_t> gave_way_{0}, refused_{0};
};

}  // namespace joust
