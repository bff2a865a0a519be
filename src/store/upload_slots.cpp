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

FileAnswer<std::unique_ptr<UploadSlot>> UploadSlots::take(const Uploader& from) {
  auto slot = std::make_unique<UploadSlot>(*this, from);
  slot->taken_ = shares_.take(*slot, 1, Clock::now());
  if (slot->taken_) return slot;
  return refused(FileError::busy,
                 fmt::format("open uploads: {} of at most {}", shares_.held(), shares_.limit()));
}

UploadSlot::~UploadSlot() {
  if (taken_) slots_.shares_.free(*this);
}

void UploadSlot::give_way() noexcept {
  if (const auto connection = connection_.lock()) connection->break_off();
}

}  // namespace joust
