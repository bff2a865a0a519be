// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "files/protocol/output_queue.hpp"
#include "files/protocol/wire.hpp"
#include "files/transfer/transfer.hpp"
#include "joust/session.hpp"

namespace joust::transfer {

// One connection of a transfer: the common part of fetching and sending. It asks for work when it is idle,
// and gives the work back when the connection is lost.
class TransferSession : public Session, protected SessionFiles {
 public:
  explicit TransferSession(Transfer& transfer) : transfer_(transfer) {}
  ~TransferSession() override { leave(); }
  TransferSession(const TransferSession&) = delete;
  TransferSession& operator=(const TransferSession&) = delete;

  void on_open(Time now) override;
  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_published(Time now) override;
  void on_peer_finished(Time now) override;
  void on_deadline(Time now) override;
  void on_drain(Time now) override;
  void on_failure(const Failure& failure, Time now) override;

  std::size_t output(std::span<Segment> into) const override { return finished_ ? 0 : queue_.segments(into); }
  Want want() const override;
  SessionFiles* files() override { return this; }
  std::optional<Time> deadline() const override;
  bool finished() const override { return finished_; }
  bool gives_up() const override { return gives_up_; }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override { queue_.released(n); }

 protected:
  // False if the connection may be waiting to be accepted: no other connection would do its work then. Until
  // the server has sent something on any connection, one of them has work all the same.
  bool may_have_work() { return is_known_ || transfer_.is_first(this); }
  // Begins the next work, if the connection is free for it. Called after every input.
  virtual void proceed(Time now) = 0;
  virtual void take(const file::Message& message, Time now) = 0;
  // Asks the server for a name, to get an answer. Does so once, and only if the server has sent nothing yet
  // on this connection.
  void probe();
  virtual const std::string& any_name() const = 0;
  // Gives the work in hand back, so that another connection can take it.
  virtual void requeue_work() = 0;
  virtual bool busy() const = 0;  // an answer is awaited
  // Called when a server that has answered before falls silent: the connection is lost.
  virtual void timed_out() {}
  virtual void more_room(std::size_t /*sent*/) {}
  virtual std::optional<Time> due() const { return std::nullopt; }  // when to call proceed() without an input

  FileRange store() const override { return {}; }
  void on_stored(std::size_t /*n*/, Bytes /*seen*/, Time /*now*/) override {}
  void on_store_failed(int /*error*/, Time /*now*/) override {}
  void on_source_failed(int /*error*/, Time /*now*/) override {}

  Transfer& transfer() { return transfer_; }
  file::OutputQueue& queue() { return queue_; }
  const file::OutputQueue& queue() const { return queue_; }
  void alive(Time now) { last_sign_ = now; }
  // Notes that bytes of files have been sent. They are a sign of progress too, unlike a question.
  void progress_sent(std::size_t n) {
    sent_ = true;
    sent_bytes_ += n;
  }
  void receive_data(std::uint64_t size) { data_left_ = size; }
  std::uint64_t data_left() const { return data_left_; }
  void data_stored(std::size_t n) { data_left_ -= n; }
  // Ends a connection that is of no use any more; another one may take its place.
  void lose(const Failure& failure, Time now);
  void lose(const std::string& why, Time now);

 private:
  bool is_server(Bytes chunk, Time now);
  void take_probe_answer(const file::Message& message, Time now);
  void leave();
  Failure stranger() const;
  void lose_peer(const Failure& failure, Time now);
  void take_wrong_frame(const FileRefusal& refusal, Time now);
  void take_refusal(const FileRefusal& refusal, Time now);
  void conclude(Time now);
  Duration patience() const;

  Transfer& transfer_;
  file::Decoder decoder_;
  file::OutputQueue queue_;
  std::uint64_t data_left_ = 0;  // bytes of the current data frame that are not received yet
  bool finished_ = false;
  bool gives_up_ = false;
  enum class Probe : std::uint8_t { none, sent, answered } probe_ = Probe::none;
  bool is_known_ = false;  // its first byte has shown that the peer is a server
  std::string first_;      // the first bytes of a peer that is no server
  bool sent_ = false;      // bytes have been sent since the last look
  std::uint64_t sent_bytes_ = 0;
  Time looked_{};
  Time last_sign_{};  // the last sign of the peer, or of progress
};

// Describes the server's refusal of a name, for people.
std::string words_of(const std::string& name, const FileRefusal& refusal);
// True if nothing of a refused file is left for the next attempt. `at_end`: all bytes had arrived.
bool is_all_gone(FileError error, bool at_end);

}  // namespace joust::transfer
