// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "files/protocol/client.hpp"
#include "files/protocol/output_queue.hpp"
#include "files/protocol/wire.hpp"
#include "files/store/file_digest.hpp"
#include "files/store/storage.hpp"
#include "joust/session.hpp"
#include "joust/time.hpp"

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
  void begin(OutputQueue& queue, std::uint32_t request, const UploadRange& upload);
  void add_data(OutputQueue& queue, const std::shared_ptr<File>& source);  // as much as there is room for
  bool is_leaving() const { return sending_; }                             // the end frame is not written
  bool is_stored_by(const Stored& stored) const;

 private:
  std::uint32_t request_ = 0;
  std::uint64_t check_ = 0;     // of the request
  ByteRange range_{}, left_{};  // the whole, and the part that is not in the output
  bool sending_ = false;
};

// Watches whether a request makes progress: bytes that move, answers, and reports of a server that works.
class AnswerWatch {
 public:
  explicit AnswerWatch(Duration patience) : patience_(patience) {}

  void progressed(Time now) {
    moved_ = false;
    progress_ = now;
  }
  void moved() { moved_ = true; }  // bytes have been sent; look() notes when
  void look(Time now) {
    if (moved_) progressed(now);
  }
  // Accepts reports of work without progress for kLongestWork at most: the server may be working, or serving
  // others first.
  void server_works(Time now) {
    if (now - progress_ < kLongestWork) report_ = now;
  }
  Time ends() const { return std::max(progress_, report_) + patience_; }
  Duration patience() const { return patience_; }

 private:
  static constexpr Duration kLongestWork = std::chrono::minutes(30);

  Duration patience_;
  bool moved_ = false;
  Time progress_{};
  Time report_{};  // the last report that the server is working
};

// One connection of a load: transfers ranges or sends queries, one after the other. The last connection of a
// group verifies what the group has fetched, after the window.
class ClientSession : public Session, private SessionFiles {
 public:
  ClientSession(Transfers& transfers, std::uint64_t connection);
  ~ClientSession() override;
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  void on_open(Time now) override;
  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_peer_finished(Time now) override;
  void on_deadline(Time now) override;
  void on_drain(Time now) override;
  void on_failure(const Failure& failure, Time now) override;

  std::size_t output(std::span<Segment> into) const override;
  Want want() const override;
  SessionFiles* files() override { return this; }
  std::optional<Time> deadline() const override;
  bool finished() const override { return step_ == Step::finished || step_ == Step::failed; }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override { queue_.released(n); }

 private:
  FileRange store() const override { return arriving_.next(); }
  void on_stored(std::size_t n, Bytes seen, Time now) override;
  void on_store_failed(int error, Time now) override;
  void on_source_failed(int error, Time now) override;

  enum class Step : std::uint8_t {
    probing,    // the query before the start is outstanding
    loading,    // requests of the load
    waiting,    // for the other connections of the group
    verifying,  // digests the bytes that were kept
    again,      // fetches bytes that were not kept again, to digest them
    finished,
    failed,
  };

  bool busy() const { return phases_.busy() || step_ == Step::probing || step_ == Step::again; }
  Operation operation() const { return transfers_.options().operation; }
  void proceed(Time now);
  std::optional<RangeTask> next_task();
  void begin(const RangeTask& task, Time now);
  void query(bool wants_digest, Time now);
  void start_download(File& into, ByteRange range, Time now);
  void start_upload(Time now);

  void take(const Message& message, Time now);
  void take_facts(const Facts& facts, Time now);
  void take_end(const End& end, Time now);
  void take_stored(const Stored& stored, Time now);
  void answered(std::uint64_t bytes_moved, Time now);
  void count(std::uint64_t bytes, Time now);

  void finish_load(Time now);
  bool worth_verifying() const;
  void verify(Time now);
  void check_digest(const Digest& digest, Time now);
  void unexpected(std::string detail, Time now) { fail({Stage::verify, 0, std::move(detail)}, now); }
  void fail(const Failure& failure, Time now);
  void end_by_failure();
  bool leave_group();  // true for the last member

  Transfers& transfers_;
  ConnectionGroup& group_;
  const std::uint64_t connection_;
  LoadPhases phases_;
  Decoder decoder_;
  OutputQueue queue_;
  AnswerWatch watch_;
  Step step_ = Step::loading;
  RangeTask task_{};  // the current one
  ArrivingRange arriving_;
  LeavingRange leaving_;
  std::uint32_t request_ = 0;
  std::uint64_t requests_ = 0;        // fragments and uploads
  std::optional<FileDigest> digest_;  // of the kept bytes
  std::unique_ptr<DigestedFile> got_again_;
  bool in_group_ = true;
  bool stopped_ = false;  // by the user
  Time next_begin_{};     // set by the interval
  Time next_look_{};      // when to look next, while verifying or waiting
  Time now_{};            // time of the last input
};

}  // namespace joust::file
