// SPDX-License-Identifier: MIT
#pragma once

#include "connection/tally.hpp"
#include "engines/io_uring/peer.hpp"

namespace joust {

// Reports once, in the results of a run, that the kernel copied what it was asked to send without a copy.
class CopyReport {
 public:
  // Call it when a send of the peer has completed, with its last completion.
  void completed(const UringPeer& peer, const io_uring_cqe& cqe, Tally& tally);

 private:
  bool copied_ = false;
  bool refused_ = false;
};

}  // namespace joust
