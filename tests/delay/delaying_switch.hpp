// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "delay/frame_port.hpp"
#include "delay/held_frames.hpp"
#include "measure/histogram.hpp"

namespace joust {

// A switch of Ethernet whose every frame leaves a fixed time after it arrived. It learns which address is
// behind which port, and sends frames for other addresses to all other ports. One thread.
class DelayingSwitch {
 public:
  DelayingSwitch(Duration delay, const std::vector<std::string>& interfaces, HeldFrames::Limits limits);

  // Returns when `stop` is set, by a signal that is not blocked in `while_waiting` only.
  void run(const volatile std::sig_atomic_t& stop, const sigset_t& while_waiting);

  // Describes what it has done: frames, the error of the delay, and what was dropped. One line.
  std::string summary();

 private:
  using Address = std::array<std::byte, 6>;

  void receive_from(std::size_t port);
  void send_due();
  void pass_on(const HeldFrames::Frame& frame);
  void send_to(std::size_t port, const HeldFrames::Frame& frame);

  const Duration delay_;
  std::vector<FramePort> ports_{};
  HeldFrames held_;
  std::map<Address, std::size_t> port_of_{};
  std::vector<std::byte> room_;
  Histogram lateness_;  // from the time at which a frame was due, ns
  std::uint64_t sent_ = 0, sent_bytes_ = 0, refused_ = 0;
};

}  // namespace joust
