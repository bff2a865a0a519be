// SPDX-License-Identifier: MIT
#include "files/store/quota_places.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace joust {
namespace {

std::uint64_t self() {
  return static_cast<std::uint64_t>(::getpid());
}

// True if the process does not exist any more. A process that has ended exists until its parent has waited
// for it.
bool has_ended(std::uint64_t process) {
  return ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

}  // namespace

QuotaPlaces::QuotaPlaces() : made_by_(::getpid()), settled_by_(made_by_), key_(random_key()) {}

bool QuotaPlaces::is_shared() const {
  return ::getpid() != made_by_;
}

// Never returns 0 for a name: 0 stands for no name.
std::uint64_t QuotaPlaces::hash_of(std::string_view name) const {
  return name.empty() ? 0 : keyed_hash(key_, as_bytes(name)) | 1;
}

QuotaPlaces::Place* QuotaPlaces::take(std::string_view name) {
  for (Place& place : *places_) {
    if (place.owner != kNobody || !take_over(place, kNobody)) continue;
    place.name = hash_of(name);
    return &place;
  }
  return nullptr;
}

bool QuotaPlaces::take_over(Place& place, std::uint64_t owner) {
  return place.owner.compare_exchange_strong(owner, self());
}

void QuotaPlaces::leave(Place& place) {
  place.owner = kLeft;
}

void QuotaPlaces::free(Place& place) {
  place.name = 0;
  place.owner = kNobody;
}

std::uint64_t QuotaPlaces::take_left(const Place& mine) {
  std::uint64_t bytes = 0;
  for (Place& place : *places_) {
    if (&place == &mine || place.name != mine.name) continue;
    const std::uint64_t owner = place.owner;
    if (owner == kNobody || (owner != kLeft && !has_ended(owner)) || !take_over(place, owner)) continue;
    bytes += place.bytes.exchange(0);
    free(place);
  }
  return bytes;
}

std::size_t QuotaPlaces::count_left() const {
  return static_cast<std::size_t>(std::ranges::count_if(*places_, [](const Place& place) {
    const std::uint64_t owner = place.owner;
    return place.name != 0 && (owner == kLeft || (owner != kNobody && has_ended(owner)));
  }));
}

std::uint64_t QuotaPlaces::reclaim() {
  std::uint64_t bytes = 0;
  for (Place& place : *places_) {
    const std::uint64_t owner = place.owner;
    if (owner == kNobody || owner == kLeft || owner == self()) continue;
    if (has_ended(owner) && take_over(place, owner)) bytes += settle(place);
  }
  return bytes;
}

// Frees the bytes of an upload that has ended with its process. Bytes that stay on the disk count until their
// name is uploaded again.
std::uint64_t QuotaPlaces::settle(Place& place) {
  if (place.name != 0) {
    leave(place);
    return 0;
  }
  const std::uint64_t bytes = place.bytes.exchange(0);
  free(place);
  return bytes;
}

// A process may have the ID of an earlier one.
std::uint64_t QuotaPlaces::settle_own() {
  if (settled_by_.exchange(::getpid()) == ::getpid()) return 0;
  std::uint64_t bytes = 0;
  for (Place& place : *places_)
    if (place.owner == self()) bytes += settle(place);
  return bytes;
}

}  // namespace joust
