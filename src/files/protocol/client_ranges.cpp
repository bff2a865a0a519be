// SPDX-License-Identifier: MIT
#include "files/protocol/client_ranges.hpp"

#include <utility>

namespace joust::file {

void ArrivingRange::begin(File& into, ByteRange range) {
  into_ = &into;
  left_ = range_ = range;
  data_left_ = 0;
  found_ = false;
}

std::string_view ArrivingRange::take(const Facts& /*facts*/) {
  return std::exchange(found_, true) ? "a frame that is no answer" : "";
}

std::string_view ArrivingRange::take(const Data& data) {
  if (!found_ || data.size == 0 || data.size > left_.size) return "bytes without a request";
  data_left_ = data.size;
  return {};
}

std::string_view ArrivingRange::take(const End& end) const {
  return !found_ || left_.size > 0 || end.size != range_.size ? "the answer ends too early" : "";
}

void ArrivingRange::stored(std::size_t n) {
  data_left_ -= n;
  left_ = {left_.offset + n, left_.size - n};
}

void LeavingRange::begin(Outgoing& outgoing, std::uint32_t request, const UploadRange& upload) {
  request_ = request;
  left_ = range_ = upload.range;
  check_ = outgoing.message({request, upload});
  sending_ = true;
}

void LeavingRange::add_data(Outgoing& outgoing, const std::shared_ptr<File>& source) {
  if (!sending_) return;
  left_ = outgoing.data_ahead(request_, source, left_);
  if (left_.size > 0 || !outgoing.has_room()) return;
  outgoing.message({request_, End{range_.size, std::nullopt}});
  sending_ = false;
}

bool LeavingRange::is_stored_by(const Stored& stored) const {
  return stored.range == range_ && stored.request_check == check_;
}

}  // namespace joust::file
