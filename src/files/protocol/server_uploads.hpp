// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/protocol/server.hpp"
#include "files/protocol/wire.hpp"
#include "files/store/storage.hpp"
#include "session/handler_session.hpp"

namespace joust::file {

// The uploads with ranges from one connection, kept until they are complete. Each must grow, by all its
// connections together: one of them may have sent its range, and wait for the others.
class IncompleteUploads {
 public:
  explicit IncompleteUploads(ServerState& server) : server_(server) {}

  // Finds an upload of the storage, or begins it, and keeps it. `requests` is the number of requests of the
  // connection so far.
  FileAnswer<std::shared_ptr<Upload>> find(const UploadRequest& request, std::uint64_t requests);
  // `offered`: the upload may be forgotten, because the client offers it again.
  void keep(const std::shared_ptr<Upload>& upload, bool offered, std::uint64_t size, std::uint64_t requests);
  void forget_complete();
  void clear() { all_.clear(); }
  bool empty() const { return all_.empty(); }
  // True if an offered file is left unfinished. Between two ranges nothing is under way, and no other
  // connection may send the next range.
  bool leave_unfinished() const;

  // Counts the sender's digest as growth of an upload that has all its bytes: the sender seals it after
  // reading the file from a slow disk.
  void sender_works(const Working& working);
  void expect_growth(bool owed, bool waited_for, Time now);  // see LeastRate::expect()
  // Returns a complaint if an upload has not grown enough. The protocol has no message for giving an offered
  // file up: if the client sends other requests meanwhile (`is_busy`, `requests`), such a file is forgotten,
  // unless it is `in_hand`. Its slot is free then, and the client is not too slow.
  std::optional<std::string> complaint(const Upload* in_hand, bool is_busy, std::uint64_t requests, Time now);
  std::optional<Time> deadline() const;

 private:
  struct Entry {
    std::shared_ptr<Upload> upload;
    bool offered;
    std::uint64_t size;  // bytes of the file
    LeastRate growth;
    std::uint64_t received = 0;  // bytes, when growth was last updated
    std::uint64_t requests = 0;  // requests of the connection when the window of `growth` began
    std::uint64_t digested = 0;  // bytes digested by its sender

    bool grows(Time now);
  };

  ServerState& server_;
  std::vector<Entry> all_;
};

// The range of an upload that arrives at a server, frame by frame. Data that are not wanted are discarded.
class IncomingRange {
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

// The files that a server receives: ranges of uploads, files that are offered and sent in ranges, files whose
// data follows at once, and directories. What an earlier attempt has left is resumed in slices, and a
// complete file is checked in slices.
class Uploads {
 public:
  // All are borrowed but `from`.
  Uploads(ServerState& server, Answers& answers, Slices& slices, IncompleteUploads& incomplete,
          Uploader from);
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  void begin(const UploadRange& upload, Time now);
  void begin(const Offer& offer, Time now);
  void begin(const Whole& whole, Time now);
  void begin(const Seal& seal, Time now);
  void begin(const Folder& folder, Time now);

  // The frames of a range. take() returns false if the frame has more data than the range.
  [[nodiscard]] bool take(const Data& data);
  void take(const End& end, Time now);
  void given_up();

  bool idle() const { return state_ == State::idle; }
  bool receives() const { return state_ == State::receiving || state_ == State::discarding; }
  IncomingRange& incoming() { return incoming_; }
  const IncomingRange& incoming() const { return incoming_; }
  bool works() const { return state_ == State::resuming || state_ == State::checking; }
  // True if the end of the connection cuts off an upload.
  bool are_cut_off() const;
  void go_on(Time now);  // makes the next slice

  // Refuses the request. More data of a refused upload may follow: they are discarded.
  void refuse(const FileRefusal& refusal);
  void abandon();  // gives the range back that is being received
  void end_incomplete();
  void next_request() { is_counted_ = false; }
  const Upload* in_hand() const { return upload_ ? upload_.get() : incoming_.upload(); }

 private:
  enum class State : std::uint8_t {
    idle,
    receiving,   // a range
    discarding,  // the rest of a refused upload, or a range that is stored already
    resuming,    // verifying the bytes that an earlier attempt left
    checking,    // a complete upload
  };

  bool skips(std::string_view name, const FileWishes& wishes, const FileRefusal& refusal, Time now);
  void resume_slice(Time now);
  void begin_check(std::shared_ptr<Upload> upload, ByteRange range, Time now);
  void check_slice(Time now);
  void done();

  ServerState& server_;
  Answers& answers_;
  Slices& slices_;
  const Uploader from_;
  IncompleteUploads& incomplete_;
  State state_ = State::idle;
  IncomingRange incoming_;
  std::shared_ptr<Upload> upload_;  // being resumed or checked
  ByteRange checked_{};             // the range or the file whose check is under way
  bool is_whole_ = false;           // the upload is a whole file
  bool is_there_ = false;           // discarding: the range is stored already, and not refused
  bool is_counted_ = false;         // the latest upload is counted as abandoned
};

}  // namespace joust::file
