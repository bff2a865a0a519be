// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "files/protocol/wire.hpp"
#include "files/store/storage.hpp"

namespace joust::file {

// The range of an upload that arrives at a server, frame by frame. Data that are not wanted are discarded.
class ServerReception {
 public:
  void begin(std::shared_ptr<Upload> upload, ByteRange range) {
    upload_ = std::move(upload);
    left_ = range_ = range;
    data_left_ = 0;
  }
  // Begins to discard: the data of a refused upload, or of a range that is stored already.
  void begin_to_discard(ByteRange range = {}) {
    range_ = range;
    left_ = {};
    data_left_ = 0;
  }
  // Begins a frame of data. Reserves room for it: an announced file alone takes none.
  FileAnswer<void> take(const Data& data) {
    data_left_ = data.size;
    return upload_ ? upload_->make_room({left_.offset, data.size}) : FileAnswer<void>{};
  }
  bool fits(const Data& data) const { return !upload_ || data.size <= left_.size; }
  bool is_complete(const End& end) const { return left_.size == 0 && end.size == range_.size; }
  bool wants_data() const { return upload_ && data_left_ > 0; }
  FileRange next() const { return {&upload_->file(), left_.offset, data_left_}; }  // where bytes belong
  void stored(std::size_t n, Bytes seen) {
    upload_->stored({left_.offset, n}, seen);
    data_left_ -= n;
    left_ = {left_.offset + n, left_.size - n};
  }
  std::size_t discard(std::size_t n) {  // returns how many bytes were not wanted
    const std::uint64_t part = std::min<std::uint64_t>(data_left_, n);
    data_left_ -= part;
    return part;
  }
  ByteRange range() const { return range_; }
  bool finish() { return upload_ && upload_->finish(range_); }  // true: it was the last range of the upload
  std::shared_ptr<Upload> release() { return std::exchange(upload_, nullptr); }  // ends it
  const Upload* upload() const { return upload_.get(); }                         // null: discards

 private:
  std::shared_ptr<Upload> upload_;
  ByteRange range_{};
  ByteRange left_{};             // the part of range_ that has not arrived
  std::uint64_t data_left_ = 0;  // bytes of the current data frame that have not arrived
};

}  // namespace joust::file
