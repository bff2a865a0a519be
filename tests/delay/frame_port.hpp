// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/fd.hpp"
#include "joust/time.hpp"

namespace joust {

// An interface of this network namespace, by a packet socket: it receives and sends whole Ethernet frames. A
// frame has the kernel's header in front that says which parts of it are still to be done (virtio_net_hdr):
// the checksum, and the cut into segments. So packets of 64 KiB pass as one frame, as on a virtual switch.
// One thread.
class FramePort {
 public:
  static constexpr std::size_t kHeader =
      10;  // bytes of virtio_net_hdr, whose own file (linux/virtio_net.h) is no C++
  static constexpr std::size_t kLongest = kHeader + 18 + (64 << 10);

  // Throws std::system_error: the interface does not exist, or packet sockets are not permitted.
  explicit FramePort(const std::string& interface);

  int descriptor() const { return socket_.get(); }
  const std::string& interface() const { return interface_; }

  struct Arrival {
    std::size_t bytes = 0;  // 0: there is no frame
    Time at{};              // when the kernel received it
  };
  // Reads a frame into `room` (kLongest bytes). Does not wait. Frames that are sent are not among them.
  Arrival receive(std::span<std::byte> room);
  // Returns false if the kernel does not take the frame.
  bool send(std::span<const std::byte> frame) const;

  // Returns how many frames were lost at this port since the last call: they were not read in time, or could
  // not be read at all.
  std::uint64_t take_lost();

 private:
  std::string interface_;
  Fd socket_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace joust
