// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "base/connection_share.hpp"
#include "store/storage.hpp"

namespace joust {

// The place of one open upload. To give way, it ends the connection that has begun the upload: a sender goes
// on with it over another one.
using UploadSlot = ConnectionShare;

// How many uploads may be open, and how many complete files may wait for the disk, by the descriptors of this
// process: see store/descriptors.hpp. Throw std::system_error.
std::size_t most_uploads_by_descriptors();
std::size_t most_waiting_by_descriptors();

// How many uploads are open. No address can keep all of them: see Shares. Any thread.
class UploadSlots {
 public:
  explicit UploadSlots(std::size_t most) : shares_(most, 1) {}
  FileAnswer<std::unique_ptr<UploadSlot>> take(const Uploader& from);

 private:
  Shares shares_;
};

}  // namespace joust
