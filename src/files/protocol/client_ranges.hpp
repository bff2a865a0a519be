// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "files/protocol/outgoing.hpp"
#include "files/protocol/wire.hpp"
#include "files/store/storage.hpp"

namespace joust::file {

// The bytes of one fragment as they arrive. take() returns an objection to a frame that does not belong to
// the answer; empty if it does.
class ArrivingRange {
 public:
  void begin(File& into, ByteRange range);
  std::string_view take(const Facts& facts);
  std::string_view take(const Data& data);
  std::string_view take(const End& end) const;

  bool wants_data() const { return data_left_ > 0; }
  FileRange next() const { return {into_, left_.offset, data_left_}; }  // where the next bytes belong
  void stored(std::size_t n);

 private:
  File* into_ = nullptr;
  ByteRange range_{}, left_{};   // as requested, and the part that has not arrived
  std::uint64_t data_left_ = 0;  // bytes of the current data frame that have not arrived
  bool found_ = false;           // the answer has begun
};

// The bytes of one uploaded range, added to the output as they are sent.
class LeavingRange {
 public:
  void begin(Outgoing& outgoing, std::uint32_t request, const UploadRange& upload);
  void add_data(Outgoing& outgoing, const std::shared_ptr<File>& source);  // as much as there is room for
  bool is_leaving() const { return sending_; }                             // the end frame is not written
  bool is_stored_by(const Stored& stored) const;

 private:
  std::uint32_t request_ = 0;
  std::uint64_t check_ = 0;     // of the request
  ByteRange range_{}, left_{};  // the whole, and the part that is not in the output
  bool sending_ = false;
};

}  // namespace joust::file
