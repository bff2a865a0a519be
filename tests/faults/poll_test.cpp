// SPDX-License-Identifier: MIT
#include "engines/poll.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <new>

#include "connection/tally.hpp"
#include "engines/running.hpp"
#include "faults/seam.hpp"
#include "net/stop.hpp"

namespace joust::faults {
namespace {

constexpr std::size_t kNeverPlaced = 77;

struct Door : Watched {
  Door() { place = kNeverPlaced; }
  Waker waker;
};

// Takes the place of the loop for which a poller waits.
struct Noting {
  std::vector<const Watched*> seen;

  std::size_t woken(int result, const char* /*call*/) const {
    return static_cast<std::size_t>(std::max(result, 0));
  }
  void fetch_ahead(const Watched* /*soon*/, const Watched* /*later*/) const {}
  void ready(Watched& what, unsigned /*events*/) { seen.push_back(&what); }
};

// Watches all doors, while the nth allocation fails. Returns whether each of them is watched then.
bool watch_all(Poll& poll, std::deque<Door>& doors, const Call& memory, std::uint64_t nth) {
  bool all = true;
  const EngineThread marked;
  inject(std::array{Fault{.call = &memory, .error = ENOMEM, .nth = nth}});
  reset_counts();
  for (Door& door : doors) try {
      poll.watch(door.waker.fd(), door, POLLIN);
    } catch (const std::bad_alloc&) {
      all = false;
    }
  stop_injecting();
  return all;
}

// Whatever allocation fails: a socket that could not be watched leaves no trace, and the others are watched.
TEST(PollShortOfMemory, KeepsItsArraysInStep) {
  const auto memory = std::ranges::find(all_calls(), "operator new", &Call::name);
  ASSERT_NE(memory, all_calls().end());
  HandlerService service = test::echo_service();
  test::Dialling dialling(service, "127.0.0.1:1", 0);
  bool failed = true;
  for (std::uint64_t nth = 1; failed; ++nth) {
    Poll poll(dialling.hosting);
    std::deque<Door> doors(40);
    failed = !watch_all(poll, doors, **memory, nth);
    std::vector<const Watched*> watched;
    for (Door& door : doors) {
      door.waker.wake();
      if (door.armed != Watched::kUnwatched) watched.insert(watched.begin(), &door);
    }
    Noting loop;
    poll.wait(loop, Duration::zero());
    EXPECT_EQ(loop.seen, watched) << "the last one first";
    for (Door& door : doors) {
      if (door.armed == Watched::kUnwatched) continue;
      poll.forget(door.waker.fd(), door);
      door.place = kNeverPlaced;
    }
    for (const Door& door : doors) EXPECT_EQ(door.place, kNeverPlaced) << "still in the array, nth " << nth;
  }
}

}  // namespace
}  // namespace joust::faults
