// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "base/connection_share.hpp"
#include "files/store/storage.hpp"

namespace joust {

// The place of one open upload. When it has to give way, it ends the connection that began the upload: the
// sender resumes the upload over another connection.
using UploadSlot = ConnectionShare;

// The limits that follow from the descriptors of this process: of open uploads, and of complete files that
// wait for the disk. See files/store/descriptors.hpp. Throw std::system_error.
std::size_t most_uploads_by_descriptors();
std::size_t most_waiting_by_descriptors();

// Limits the number of open uploads. No address can keep all slots: see Shares. Any thread.
class UploadSlots {
 public:
  explicit UploadSlots(std::size_t most) : shares_(most, 1) {}
  FileAnswer<std::unique_ptr<UploadSlot>> take(const Uploader& from);

 private:
  Shares shares_;
};

}  // namespace joust
