// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "files/protocol/wire.hpp"
#include "files/store/disk/disk_file.hpp"
#include "files/store/file_digest.hpp"
#include "files/transfer/ranges.hpp"
#include "files/transfer/send.hpp"
#include "files/transfer/send_session.hpp"
#include "files/transfer/source_files.hpp"

namespace joust::transfer {

// A large file that is being sent: its steps, its ranges and its digest. Protected by the lock of its Send,
// except for the digest, which another thread makes.
class LargeSource {
 public:
  // Throws std::system_error if the descriptor cannot be duplicated.
  LargeSource(std::size_t item, OpenSource source, std::size_t connections);

  enum class Step : std::uint8_t { to_offer, offering, sending, sealing };
  Step step = Step::to_offer;
  std::uint64_t id = 0;  // number of the upload; a new one with each offer
  RangesLeft ranges;
  bool was_offered = false;
  ByteRange counted{};          // offset: bytes counted as there before; size: bytes counted as moved
  bool compared = false;        // compared with the file that it replaces
  bool may_be_stored = false;   // the file was sealed, and the answer was lost
  std::uint64_t most_done = 0;  // the most bytes that the server has had
  Time give_up_at{};            // when to stop asking a busy server; Time{}: not busy since the last progress
  unsigned forgotten = 0;       // times that the server did not know the upload, since the last progress

  std::size_t item() const { return item_; }
  const FileVersion& version() const { return version_; }
  const std::shared_ptr<File>& file() const { return file_; }
  // True if the file has other bytes than when it was opened.
  bool has_changed() const;

  // Reads the file to its end, and then calls `ready`; stops earlier, without that call, after stop_digest().
  // On a thread of its own.
  void make_digest(const std::function<void()>& ready);
  // Lets the digest wait at this position of the file. While ranges are sent it keeps just ahead of them: a
  // digest that ran on would take a core from the threads that send and store, and leave it idle afterwards.
  void pace_digest(std::uint64_t end);
  void stop_digest();
  std::uint64_t digested() const { return digest_.done(); }  // bytes
  bool is_digested() const { return digested_.load(std::memory_order_acquire); }
  // Empty if the file could not be read.
  std::optional<Digest> digest() const { return readable_ ? std::optional(digest_.value()) : std::nullopt; }

 private:
  const std::size_t item_;
  const FileVersion version_;
  Fd fd_;
  const std::shared_ptr<File> file_;  // for the socket
  SourceFile once_;                   // for the digest
  FileDigest digest_;
  bool readable_ = false;
  std::atomic<bool> digested_{false}, stopped_{false};
  std::atomic<std::uint64_t> pace_{UINT64_MAX};
};

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
