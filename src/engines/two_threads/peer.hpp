// SPDX-License-Identifier: MIT
#pragma once

#include "base/wake_flag.hpp"
#include "engines/crew/crew.hpp"

namespace joust {

// A connection, and what its two threads tell each other. The first one is the writer, because it opens the
// connection.
class Duplex : public CrewPeer {
 public:
  explicit Duplex(Crew& crew) : CrewPeer(crew, 2) {}

  WakeFlag wake_reader;
  WakeFlag wake_writer;
  // Protected by the lock:
  bool reader_sleeps = false;
  bool writer_sleeps = false;  // until
  Time writer_back_by{};       // this time
  bool found = false;          // input, since the writer's last turn

 private:
  void hold(std::size_t thread) override;  // in two_threads.cpp
  bool pass_publications(Time now) noexcept override;
  void rouse() override;
  void release_others() noexcept override;
};

}  // namespace joust
