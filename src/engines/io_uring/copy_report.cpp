// SPDX-License-Identifier: MIT
// Needs uring.
#include "engines/io_uring/copy_report.hpp"

#include <utility>

#include "engines/io_uring/newer_kernels.hpp"

namespace joust {

// Bytes on loopback are copied when they change from the sending socket to the receiving one: the memory of
// the sender must not wait for a reader that may never read.
void CopyReport::completed(const UringPeer& peer, const io_uring_cqe& cqe, Tally& tally) {
  const bool is_notice = (cqe.flags & IORING_CQE_F_NOTIF) != 0;
  if (is_notice && (static_cast<unsigned>(cqe.res) & kWasCopied) != 0 && !std::exchange(copied_, true))
    tally.note("sends=zero-copy: the kernel copied all the same, as it does on loopback and on unix sockets");
  if (peer.copies_sends() && !std::exchange(refused_, true))
    tally.missing(
        "zero-copy sends: the kernel refused some, as if too little memory may be locked (ulimit -l)");
}

}  // namespace joust
