// SPDX-License-Identifier: MIT
#include "connection/account.hpp"

#include <cerrno>
#include <system_error>

namespace joust {
namespace {

constexpr std::string_view kGaveWayToMemory = "connections were ended because memory ran short";

// Connections that have made progress within this time are not idle.
constexpr Duration kIdle = std::chrono::seconds(1);

// The least time between two calls in which connections give way: those of the first call need a moment to
// end.
constexpr Duration kGivesWay = std::chrono::milliseconds(50);

}  // namespace

Failure gave_way() {
  return {Stage::local, 0, "it was ended to make room for others"};
}

std::system_error no_place() {
  return {EUSERS, std::generic_category(), "the peer's address has all connections of the server"};
}

void Account::short_of_places(Time now) {
  Time last = relieved_.load(std::memory_order_relaxed);
  if (now < last + kGivesWay || !relieved_.compare_exchange_strong(last, now)) return;
  connections_.relieve(connections_.held() / 16 + 1, kIdle, now);
}

void Account::short_of_memory(double part) {
  tally_.note(kGaveWayToMemory);
  connections_.relieve_memory(part);
}

}  // namespace joust
