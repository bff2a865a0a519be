// SPDX-License-Identifier: MIT
#include "store/upload_slots.hpp"

#include <fmt/format.h>

#include "base/descriptor_limit.hpp"
#include "store/descriptors.hpp"

namespace joust {

std::size_t most_uploads_by_descriptors() {
  return descriptors::uploads_of(descriptor_limit().rlim_cur);
}

std::size_t most_waiting_by_descriptors() {
  return descriptors::waiting_of(descriptor_limit().rlim_cur);
}

FileAnswer<std::unique_ptr<UploadSlot>> UploadSlots::take(PeerAddress peer) {
  const std::lock_guard lock(mutex_);
  if (open_ >= most_)
    return refused(FileError::busy, fmt::format("open uploads: {} of at most {}", open_, most_));
  const auto found = of_peers_.find(peer);
  const std::size_t of_peer = found == of_peers_.end() ? 0 : found->second;
  if (of_peer >= most_of_peer_)
    return refused(FileError::busy,
                   fmt::format("open uploads of this address: {} of at most {}", of_peer, most_of_peer_));
  return std::unique_ptr<UploadSlot>(new UploadSlot(*this, peer));
}

// Under the lock of the slots. An object that could not be made is not counted, nor freed.
UploadSlot::UploadSlot(UploadSlots& slots, PeerAddress peer) : slots_(slots), peer_(peer) {
  ++slots_.of_peers_[peer_];
  ++slots_.open_;
}

void UploadSlots::free(PeerAddress peer) {
  const std::lock_guard lock(mutex_);
  --open_;
  if (const auto found = of_peers_.find(peer); --found->second == 0) of_peers_.erase(found);
}

}  // namespace joust
