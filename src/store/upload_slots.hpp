// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "store/storage.hpp"

namespace joust {

class UploadSlot;

// How many uploads may be open, and how many complete files may wait for the disk, by the descriptors of this
// process: see store/descriptors.hpp. Throw std::system_error.
std::size_t most_uploads_by_descriptors();
std::size_t most_waiting_by_descriptors();

// How many uploads are open, in all and of each address. Any thread.
class UploadSlots {
 public:
  UploadSlots(std::size_t most, std::size_t most_of_peer) : most_(most), most_of_peer_(most_of_peer) {}
  // The limit for one address leaves slots for others.
  FileAnswer<std::unique_ptr<UploadSlot>> take(PeerAddress peer);

 private:
  friend class UploadSlot;
  void free(PeerAddress peer);

  const std::size_t most_, most_of_peer_;
  std::mutex mutex_;
  std::size_t open_ = 0;
  std::map<PeerAddress, std::size_t> of_peers_;  // none of them 0
};

// The place of one open upload, until this is destroyed.
class UploadSlot {
 public:
  ~UploadSlot() { slots_.free(peer_); }
  UploadSlot(const UploadSlot&) = delete;
  UploadSlot& operator=(const UploadSlot&) = delete;

 private:
  friend class UploadSlots;
  UploadSlot(UploadSlots& slots, PeerAddress peer);

  UploadSlots& slots_;
  const PeerAddress peer_;
};

}  // namespace joust
