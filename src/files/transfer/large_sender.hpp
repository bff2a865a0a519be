// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "files/protocol/wire.hpp"
#include "files/transfer/send.hpp"
#include "files/transfer/send_connection.hpp"

namespace joust::transfer {

// The work of one connection on a large file: its offer, a range of it, or its seal. One at a time.
class LargeSender {
 public:
  explicit LargeSender(SendConnection& connection) : connection_(connection), send_(connection.send) {}

  bool has_work() const { return work_.task != Task::none; }
  bool awaits_answer() const { return has_work() && !again_at_; }
  bool awaits(std::uint32_t request) const { return awaits_answer() && request == request_; }
  std::optional<Time> due() const { return again_at_; }  // when a busy server is asked once more
  void begin(SendTransfer::Work work);
  void go_on();     // asks once more if that is due, and adds data
  void add_data();  // of a range, as much as there is room for
  // Takes an answer. Returns an objection; empty if the frame is such an answer.
  std::string take(const file::Message& message);
  void sent(std::size_t n) { sent_ += n; }
  void source_failed(int error);
  void give_back();
  const SourceItem& item() const { return send_.item(work_.item); }

 private:
  using Task = SendTransfer::Task;

  void begin_again();
  void seal();
  void compare(const file::Facts& facts);
  // True if the server is to be asked for its file before it replaces that: it may have this file already.
  bool is_to_compare() const;
  void offer_compared();
  void refused(const FileRefusal& refusal);
  void wait() { again_at_ = connection_.now + kAskAgain; }
  SendTransfer::Work release();  // ends the work

  SendConnection& connection_;
  SendTransfer& send_;
  SendTransfer::Work work_{};
  std::uint32_t request_ = 0;
  std::uint64_t check_ = 0;  // of the latest request
  ByteRange left_{};         // the part of the range that is not sent yet
  std::uint64_t sent_ = 0;   // bytes sent for the work
  bool sending_ = false;     // the end of the range has not been written
  // The latest question about the file that the server has under the name of an offered one.
  enum class Asked : std::uint8_t { nothing, size, digest } asked_ = Asked::nothing;
  std::optional<Time> again_at_;  // waits until then, to ask once more
};

}  // namespace joust::transfer
