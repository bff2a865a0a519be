// SPDX-License-Identifier: MIT
#include "base/shares.hpp"

#include <algorithm>
#include <cassert>
#include <new>

namespace joust {

bool Shares::take(Holder& holder, Time now) {
  holder.made_progress(now);
  const std::lock_guard lock(mutex_);
  OfAddress& of = addresses_[holder.address_];
  ++of.staying;  // the newcomer counts in the search for the greatest address
  bool fits = false;
  try {
    fits = staying() < limit_ || make_room(holder, now);
  } catch (const std::bad_alloc&) {
    // Without the memory for the search, no holder gives way.
  }
  if (!fits) {
    --of.staying;
    if (of.holders.empty()) addresses_.erase(holder.address_);
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  holder.place_ = of.holders.size();
  of.holders.push_back(&holder);
  held_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// Ends holders until the newcomer has room. Returns false if too few holders may be ended: then none is.
bool Shares::make_room(const Holder& newcomer, Time now) {
  OfAddress& most = greatest();
  const OfAddress& own = addresses_[newcomer.address_];
  const std::size_t more = most.staying - own.staying;
  // Ends at most so many holders that the other address keeps as many as the newcomer's. If the other address
  // has no more than that, only idle holders end.
  const auto oldest = more > 0 ? idle_ones(most, Time::max(), std::min(together_, (more + 1) / 2))
                               : idle_ones(most, now - patience_, &most == &own ? together_ : 1);
  if (staying() >= limit_ + oldest.size()) return false;
  for (Holder* const each : oldest) end(*each, most);
  return true;
}

// Returns the holders of an address that have made no progress after `since`; at most `most` of them, the
// oldest first.
std::vector<Shares::Holder*> Shares::idle_ones(const OfAddress& of, Time since, std::size_t most) const {
  const auto progress = [](const Holder* holder) {
    return Time(Duration(holder->progress_.load(std::memory_order_relaxed)));
  };
  std::vector<Holder*> idle;
  for (Holder* const holder : of.holders)
    if (!holder->gives_way_ && holder->can_give_way() && progress(holder) <= since) idle.push_back(holder);
  const auto oldest = static_cast<std::ptrdiff_t>(std::min(idle.size(), most));
  std::ranges::partial_sort(idle, idle.begin() + oldest, {}, progress);
  idle.resize(static_cast<std::size_t>(oldest));
  return idle;
}

void Shares::relieve(std::size_t count, Duration idle, Time now) {
  const std::lock_guard lock(mutex_);
  if (addresses_.empty()) return;
  OfAddress& most = greatest();
  try {
    // Holders that leave already make room too. The address that has most of the others may have little.
    for (Holder* const each : idle_ones(most, now - idle, count - std::min(count, leaving_)))
      end(*each, most);
  } catch (const std::bad_alloc&) {
    // The next call may find the memory for its list.
  }
}

void Shares::relieve_memory(double part) {
  struct Use {
    std::uint64_t memory;  // bytes, which may change meanwhile
    Holder* holder;
  };
  struct User {
    OfAddress* of;
    std::uint64_t memory = 0;    // bytes of the holders in `staying`
    std::vector<Use> staying{};  // the greatest last
  };
  const std::lock_guard lock(mutex_);
  try {
    std::uint64_t all = 0, leaving = 0;
    std::vector<User> users;
    for (auto& [address, of] : addresses_) {
      User user{.of = &of};
      for (Holder* const holder : of.holders) {
        const std::uint64_t memory = holder->memory();
        all += memory;
        if (holder->gives_way_) leaving += memory;
        if (holder->gives_way_ || !holder->can_give_way()) continue;
        user.memory += memory;
        user.staying.push_back({memory, holder});
      }
      std::ranges::sort(user.staying, {}, &Use::memory);
      if (!user.staying.empty()) users.push_back(std::move(user));
    }
    const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(all));
    std::ranges::make_heap(users, {}, &User::memory);
    while (leaving < wanted && !users.empty()) {
      std::ranges::pop_heap(users, {}, &User::memory);
      User& most = users.back();
      const Use use = most.staying.back();
      most.staying.pop_back();
      most.memory -= use.memory;
      leaving += use.memory;
      end(*use.holder, *most.of);
      if (most.staying.empty())
        users.pop_back();
      else
        std::ranges::push_heap(users, {}, &User::memory);
    }
  } catch (const std::bad_alloc&) {
    // The next call may find the memory for its lists.
  }
}

std::uint64_t Shares::memory_of_staying() {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& [address, of] : addresses_)
    for (const Holder* const holder : of.holders) bytes += holder->gives_way_ ? 0 : holder->memory();
  return bytes;
}

void Shares::free(Holder& holder) {
  const std::lock_guard lock(mutex_);
  const auto found = addresses_.find(holder.address_);
  assert(found != addresses_.end());
  OfAddress& of = found->second;
  held_.fetch_sub(1, std::memory_order_relaxed);
  --(holder.gives_way_ ? leaving_ : of.staying);
  of.holders[holder.place_] = of.holders.back();
  of.holders[holder.place_]->place_ = holder.place_;
  of.holders.pop_back();
  if (of.holders.empty()) addresses_.erase(found);
}

Shares::OfAddress& Shares::greatest() {
  return std::ranges::max_element(addresses_, {}, [](const auto& each) { return each.second.staying; })
      ->second;
}

void Shares::end(Holder& holder, OfAddress& of) {
  holder.gives_way_ = true;
  --of.staying;
  ++leaving_;
  gave_way_.fetch_add(1, std::memory_order_relaxed);
  holder.give_way();
}

}  // namespace joust
