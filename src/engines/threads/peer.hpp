// SPDX-License-Identifier: MIT
#pragma once

#include "engines/peer_threads/peer_threads.hpp"

namespace joust {

// A connection with one thread, for which the host sends publications: waking a thousand threads to send a
// message takes longer than sending it. The host waits neither for a lock nor for room in a socket. Where it
// would have to, or where the owner's sleep no longer fits its interest, it nudges the owner.
class ThreadsPeer : public ThreadedPeer {
 public:
  explicit ThreadsPeer(PeerThreads& peer_threads) : ThreadedPeer(peer_threads, 1) {}

  void flush(Time now);    // sends what is possible without waiting
  short interest() const;  // the events of ppoll to wait for

  short waits_for = 0;  // the owner sleeps until one of these events,
  Time back_by{};       // or this time

 private:
  void hold(std::size_t thread) override;  // in threads.cpp
  bool pass_publications(Time now) noexcept override;
  bool speak(Time now);
  void rouse() override { interrupt(0); }
};

}  // namespace joust
