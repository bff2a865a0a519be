// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "files/protocol/client_phases.hpp"
#include "files/protocol/client_transfers.hpp"
#include "files/protocol/outgoing.hpp"
#include "files/protocol/wire.hpp"
#include "files/store/file_digest.hpp"
#include "joust/session.hpp"

namespace joust::file {

// One connection of a load: transfers ranges or sends queries, one after the other.
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
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override { outgoing_.released(n); }

 private:
  FileRange store() const override { return {sink_, left_.offset, data_left_}; }
  void on_stored(std::size_t n, Bytes seen, Time now) override;
  void on_store_failed(int error, Time now) override;
  void on_source_failed(int error, Time now) override;

  bool busy() const { return phases_.busy() || greeting_ || getting_again_; }
  void proceed(Time now);
  std::optional<RangeTask> next_task();
  void begin(const RangeTask& task, Time now);
  void query(bool wants_digest, Time now);
  void start_download(File& into, ByteRange range, Time now);
  void start_upload(const RangeTask& task, Time now);
  void send_more();
  void await_answer(Time now);  // a request has been sent

  void take(const Message& message, Time now);
  Time times_out_at() const;
  void on_answer(const Facts& facts, Time now);
  void on_answer(const Working& working, Time now);
  void on_answer(const Data& data, Time now);
  void on_answer(const End& end, Time now);
  void on_answer(const Stored& stored, Time now);
  void answered(std::uint64_t bytes_moved, Time now);
  void count(std::uint64_t bytes, Time now);

  void finish_load(Time now);
  bool worth_verifying() const;
  void verify(Time now);
  void check_digest(const Digest& digest, Time now);
  void fail(Stage stage, int error, std::string detail, Time now);
  void fail(const Failure& failure, Time now);
  std::string words_of(const FileRefusal& refusal) const;
  void break_off();
  bool leave_group();  // true for the last member

  Transfers& transfers_;
  ConnectionGroup& group_;
  const std::uint64_t connection_;
  LoadPhases phases_;
  Decoder decoder_;
  Outgoing outgoing_;
  std::uint32_t request_ = 0;
  std::uint64_t check_ = 0;      // the check of the latest upload request
  std::uint64_t requests_ = 0;   // fragments and uploads
  RangeTask task_{};             // the current task
  ByteRange left_{};             // the part of the task that is not sent or not received yet
  bool sending_ = false;         // the end frame of the task has not been written
  bool found_ = false;           // the server has begun to answer
  File* sink_ = nullptr;         // the destination of the answer's bytes
  std::uint64_t data_left_ = 0;  // bytes of the current data frame that are not received yet
  bool greeting_ = false;        // the query before the start is outstanding
  bool verifying_ = false;       // digesting, after the window
  bool waiting_ = false;         // waits for the other members of the group
  bool getting_again_ = false;   // fetches bytes that were not kept again, to digest them
  std::optional<FileDigest> digest_;
  std::unique_ptr<DigestedFile> got_again_;
  bool in_group_ = true;
  bool stopped_ = false;  // stopped by the user
  bool failed_ = false;
  bool finished_ = false;
  bool moved_ = false;  // bytes have been sent since the last check
  Time last_progress_{};
  Time last_sign_{};   // time of the last report that the server is working
  Time next_begin_{};  // set by the interval
  Time next_look_{};   // when to look next, while verifying or waiting
  Time now_{};         // time of the last input
};

}  // namespace joust::file
