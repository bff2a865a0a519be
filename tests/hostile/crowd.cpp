// SPDX-License-Identifier: MIT
#include "hostile/crowd.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "net/socket_options.hpp"

namespace joust::hostile {
namespace {

constexpr Duration kMoment = std::chrono::milliseconds(20);

int to_milliseconds(Duration time) {
  return static_cast<int>((time + std::chrono::microseconds(999)) / std::chrono::milliseconds(1));
}

}  // namespace

void Crowd::add(Fd socket) {
  lives_.emplace_back(kind_, begun_++, std::move(socket));
}

void Crowd::connect(const Endpoint& to, int buffers) {
  Fd socket(checked(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket()"));
  apply({.send_buffer = buffers, .receive_buffer = buffers}, socket.get());
  // A refusal shows in the first step of the life.
  ::connect(socket.get(), to.raw(), to.size);
  add(std::move(socket));
}

bool Crowd::turn(int also) {
  std::vector<pollfd> events{{.fd = also, .events = POLLIN, .revents = 0}};
  Time now = Clock::now();
  Time next = now + kMoment;
  for (const Entry& entry : lives_) {
    const bool waits_for_event = entry.pause.events != 0;
    events.push_back(
        {.fd = waits_for_event ? entry.life.fd() : -1, .events = entry.pause.events, .revents = 0});
    next = std::min(next, entry.again);
  }
  ::poll(events.data(), events.size(), to_milliseconds(std::max(Duration::zero(), Duration(next - now))));
  now = Clock::now();
  auto event = events.begin();
  for (auto entry = lives_.begin(); entry != lives_.end();) {
    if ((++event)->revents == 0 && now < entry->again) {
      ++entry;
      continue;
    }
    const auto pause = entry->life.step();
    if (pause) {
      entry->pause = *pause;
      entry->again = now + pause->most;
    }
    entry = pause ? std::next(entry) : lives_.erase(entry);
  }
  return events.front().revents != 0;
}

}  // namespace joust::hostile
