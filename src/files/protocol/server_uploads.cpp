// SPDX-License-Identifier: MIT
//
// The server's reception of uploads.
#include <algorithm>
#include <utility>

#include "files/protocol/server_session.hpp"

namespace joust::file {
namespace {

constexpr std::size_t kMostBegun = 8;  // uploads of one connection

}  // namespace

FileRange ServerSession::store() const {
  return {&upload_->file(), left_.offset, data_left_};
}

void ServerSession::begin(const UploadRange& upload) {
  ++server_.uploads;
  ++requests_;
  data_left_ = 0;
  state_ = State::discarding;
  if (!may_upload()) return;
  auto found = find_upload({.name = upload.name,
                            .size = upload.file_size,
                            .id = upload.id,
                            .digest = upload.digest,
                            .rehearsal = upload.rehearsal,
                            .from = from_,
                            .begun = upload.offered});
  if (!found) return refuse(found.error());
  range_ = upload.range;
  // The range is stored already: its answer was lost with its connection.
  if ((*found)->has(range_)) {
    is_there_ = true;
    left_ = {};
    return;
  }
  if (auto taken = (*found)->take(range_); !taken) return refuse(taken.error());
  upload_ = std::move(*found);
  left_ = range_;
  state_ = State::receiving;
}

// Reserves room for each frame: an announced file alone takes none.
void ServerSession::begin(const Data& data) {
  if (state_ == State::receiving) {
    if (data.size > left_.size)
      return violated(request_, {FileError::malformed, "more data than the range has"});
    if (const auto room = upload_->make_room({left_.offset, data.size}); !room) refuse(room.error());
  }
  data_left_ = data.size;
}

void ServerSession::forget_complete_uploads() {
  std::erase_if(begun_, [](const BegunUpload& begun) { return begun.upload->over(); });
}

// Finds or begins an upload. An upload begun by this peer is kept until it is complete, or the connection
// ends.
FileAnswer<std::shared_ptr<Upload>> ServerSession::find_upload(const UploadRequest& request) {
  forget_complete_uploads();
  auto found = server_.storage.upload(request);
  if (!found || std::ranges::find(begun_, *found, &BegunUpload::upload) != begun_.end()) return found;
  if (begun_.size() >= kMostBegun)
    return std::unexpected(
        FileRefusal{FileError::busy, "too many uploads of this connection are incomplete"});
  keep(*found, request.begun || (request.wishes && request.wishes->outlives), request.size);
  return found;
}

// Keeps an upload. Several connections contribute to its growth, so it gets as much time as readers do.
void ServerSession::keep(const std::shared_ptr<Upload>& upload, bool offered, std::uint64_t size) {
  begun_.push_back({upload, offered, size, LeastRate(server_.rates.outgoing), upload->received(), requests_});
}

void ServerSession::on_stored(std::size_t n, Bytes seen, Time now) {
  upload_->stored({left_.offset, n}, seen);
  server_.bytes_stored.fetch_add(n, std::memory_order_relaxed);
  data_left_ -= n;
  left_ = {left_.offset + n, left_.size - n};
  incoming_rate_.moved(n);
  watch_rates(now);
}

void ServerSession::on_store_failed(int error, Time now) {
  refuse({error_of(error), "the file cannot be written"});
  watch_rates(now);
}

void ServerSession::end_upload(const End& end, Time now) {
  if (state_ == State::discarding && !is_there_) return answered();
  if (left_.size > 0 || end.size != range_.size) {
    refuse({FileError::malformed, "not all of the range has come"});
    return answered();
  }
  if (!is_there_ && upload_->finish(range_)) {
    state_ = State::checking;
    due_ = said_working_ = now;
    check_slice(now);  // if the bytes were digested on arrival, this is all
    return;
  }
  outgoing_.message({request_, Stored{.range = range_, .request_check = request_check_}});
  answered();
}

void ServerSession::abandon_upload() {
  if (state_ != State::receiving) return;
  ++server_.abandoned;
  is_counted_ = true;
  std::exchange(upload_, nullptr)->give_back(range_);
  state_ = State::discarding;
}

}  // namespace joust::file
