// SPDX-License-Identifier: MIT
#pragma once

#include "engines/two_threads/wake_flag.hpp"
#include "engines/peer_threads/peer_threads.hpp"

namespace joust {

// A connection, and the state that its two threads share. The first thread is the writer, because it opens
// the connection.
class Duplex : public ThreadedPeer {
 public:
  explicit Duplex(PeerThreads& peer_threads) : ThreadedPeer(peer_threads, 2) {}

  WakeFlag wake_reader;
  WakeFlag wake_writer;
  // Protected by the lock:
  bool reader_sleeps = false;
  bool writer_sleeps = false;  // until writer_back_by at the latest
  Time writer_back_by{};
  bool found = false;  // input has come since the writer's last turn

 private:
  void hold(std::size_t thread) override;  // in two_threads.cpp
  bool pass_publications(Time now) noexcept override;
  void rouse() override;
  void release_others() noexcept override;
};

}  // namespace joust
