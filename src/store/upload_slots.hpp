// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "base/shares.hpp"
#include "store/storage.hpp"

namespace joust {

class UploadSlot;

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
  friend class UploadSlot;
  Shares shares_;
};

// The place of one open upload, until this is destroyed. To give way, it ends the connection that has begun
// the upload: a sender goes on with it over another one.
class UploadSlot final : public Shares::Holder {
 public:
  UploadSlot(UploadSlots& slots, const Uploader& from)
      : Holder(from.address), slots_(slots), connection_(from.connection) {}
  ~UploadSlot() override;

 private:
  friend class UploadSlots;
  void give_way() noexcept override;
  bool can_give_way() const noexcept override { return !connection_.expired(); }

  UploadSlots& slots_;
  const std::weak_ptr<Breakable> connection_;
  bool taken_ = false;
};

}  // namespace joust
