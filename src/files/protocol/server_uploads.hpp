// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "files/protocol/begun_uploads.hpp"
#include "files/protocol/server_answers.hpp"
#include "files/protocol/server_reception.hpp"
#include "files/protocol/server_slices.hpp"
#include "files/protocol/server_state.hpp"

namespace joust::file {

// The server's reception of files: ranges of uploads, files that are offered and sent in ranges, files whose
// data follows at once, and directories. What an earlier attempt has left is recalled in slices, and a
// complete file is checked in slices.
class Uploads {
 public:
  // All are borrowed but `from`.
  Uploads(ServerState& server, Answers& answers, Slices& slices, BegunUploads& begun, Uploader from);
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
  ServerReception& reception() { return reception_; }
  const ServerReception& reception() const { return reception_; }
  bool works() const { return state_ == State::recalling || state_ == State::checking; }
  // True if the end of the connection cuts off an upload.
  bool are_cut_off() const;
  void go_on(Time now);  // makes the next slice

  // Refuses the request. More data of a refused upload may follow: they are discarded.
  void refuse(const FileRefusal& refusal);
  void abandon();  // gives the range back that is being received
  void end_incomplete();
  void next_request() { is_counted_ = false; }
  const Upload* in_hand() const { return upload_ ? upload_.get() : reception_.upload(); }

 private:
  enum class State : std::uint8_t {
    idle,
    receiving,   // a range
    discarding,  // the rest of a refused upload, or a range that is stored already
    recalling,   // verifying the bytes that an earlier attempt left
    checking,    // a complete upload
  };

  bool skips(std::string_view name, const FileWishes& wishes, const FileRefusal& refusal, Time now);
  void recall_slice(Time now);
  void begin_check(std::shared_ptr<Upload> upload, ByteRange range, Time now);
  void check_slice(Time now);
  void done();

  ServerState& server_;
  Answers& answers_;
  Slices& slices_;
  const Uploader from_;
  BegunUploads& begun_;
  State state_ = State::idle;
  ServerReception reception_;
  std::shared_ptr<Upload> upload_;  // being recalled or checked
  ByteRange checked_{};             // the range or the file whose check is under way
  bool is_whole_ = false;           // the upload is a whole file
  bool is_there_ = false;           // discarding: the range is stored already, and not refused
  bool is_counted_ = false;         // the latest upload is counted as abandoned
};

}  // namespace joust::file
