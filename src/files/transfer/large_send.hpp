// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "files/protocol/output_queue.hpp"
#include "files/protocol/wire.hpp"
#include "files/transfer/send.hpp"
#include "files/transfer/source_files.hpp"
#include "files/transfer/transfer.hpp"

namespace joust::transfer {

// A connection that sends files, as its parts see it: the output with its numbers, the time and the pauses.
struct SendConnection {
  SendTransfer& send;
  file::OutputQueue& queue;
  std::uint32_t request = 0;  // the number of the latest one
  Time now{};                 // of the latest input
  Time go_on_at{};            // when the rate limit allows more, or a busy server is asked again

  std::uint64_t ask(const file::Body& body) { return queue.message({++request, body}); }  // the check
};

// The time for which a busy server is asked. It may still hold the work that a lost connection has begun, or
// have no slot for more. It may need its idle limit, a minute, to notice that a connection is lost.
inline constexpr Duration kLongestBusy = std::chrono::seconds(100);

// The user's wishes for a file of this version.
FileWishes wishes_for(const SendTransfer& send, const FileVersion& version);
// True if the server's file has the time and mode that the server was asked to give it.
bool has_same_metadata(const FileVersion& version, const file::Facts& facts);
// True if the server has left an existing file as it is, as the user wishes.
bool is_skipped(const SendTransfer& send, const file::Offered& offered);
// Describes a refusal, for people.
std::string words_on(const std::string& name, const FileRefusal& refusal);

// The server has a file with the same bytes: this transfer has stored it (`by_this`), or it existed before.
void note_there(SendTransfer& send, const SendTransfer::Work& work, const Digest& digest, bool by_this);
// The server has another file of that name.
void note_other(SendTransfer& send, const SendTransfer::Work& work);
// A server from which nothing can be fetched has a file of that name. `answer_lost`: it may be this one.
void note_unknown(SendTransfer& send, const SendTransfer::Work& work, bool answer_lost);

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
