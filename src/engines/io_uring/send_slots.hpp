// SPDX-License-Identifier: MIT
#pragma once

#include <liburing.h>
#include <sys/uio.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engines/io_uring/setup.hpp"
#include "joust/bytes.hpp"

namespace joust {

// Registered memory to send from: the kernel looks its pages up once, and not for each send. A session's
// output is not registered, so it is copied into a slot, which is in use until the kernel has released it.
class SendSlots {
 public:
  static constexpr unsigned short kBuffer = 0;  // the index of the registered memory

  // Throws std::system_error if the kernel refuses.
  SendSlots(io_uring& ring, const UringSetup& setup);
  ~SendSlots();
  SendSlots(const SendSlots&) = delete;
  SendSlots& operator=(const SendSlots&) = delete;

  // Returns a slot with the beginning of `pieces`. Nothing if all slots are in use.
  std::optional<Bytes> fill(std::span<const iovec> pieces);
  void release(Bytes slot);

 private:
  std::byte* memory_;
  std::vector<std::byte*> free_;
};

}  // namespace joust
