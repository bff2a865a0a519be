// SPDX-License-Identifier: MIT
#include "files/store/upload/upload_slots.hpp"

#include <fmt/format.h>

#include "base/descriptor_limit.hpp"
#include "files/store/descriptors.hpp"

namespace joust {

std::size_t most_uploads_by_descriptors() {
  return descriptors::uploads_of(descriptor_limit().rlim_cur);
}

std::size_t most_waiting_by_descriptors() {
  return descriptors::waiting_of(descriptor_limit().rlim_cur);
}

FileAnswer<std::unique_ptr<UploadSlot>> UploadSlots::take(const Uploader& from) {
  if (auto slot = UploadSlot::take(shares_, from.address, from.connection, Clock::now())) return slot;
  return refused(FileError::busy,
                 fmt::format("open uploads: {} of at most {}", shares_.held(), shares_.limit()));
}

}  // namespace joust
