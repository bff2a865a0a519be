// SPDX-License-Identifier: MIT
#include "files/protocol/client_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.hpp"

namespace joust::file {

ClientSession::ClientSession(Transfers& transfers, std::uint64_t connection)
    : transfers_(transfers),
      group_(transfers.group(connection)),
      connection_(connection),
      phases_(transfers.run()) {}

ClientSession::~ClientSession() {
  if (in_group_) group_.failed = true;
  leave_group();
}

bool ClientSession::leave_group() {
  return std::exchange(in_group_, false) && --group_.members == 0;
}

// The first connection queries the file; the others use its answer.
void ClientSession::on_open(Time now) {
  now_ = now;
  if (connection_ != 0 || transfers_.facts() != nullptr) return phases_.opened(now);
  greeting_ = true;
  query(transfers_.options().operation == Operation::get, now);
}

void ClientSession::proceed(Time now) {
  now_ = now;
  phases_.advance(now);
  const std::uint64_t most = transfers_.options().requests_per_connection;
  while (!failed_ && !finished_ && !busy()) {
    const LoadPhases::Phase phase = phases_.phase();
    if (phase == LoadPhases::Phase::over) return finish_load(now);
    if (phase != LoadPhases::Phase::warming && phase != LoadPhases::Phase::measuring) return;
    if (now < next_begin_) return;
    if (const auto task = most > 0 && requests_ >= most ? std::nullopt : next_task())
      begin(*task, now);
    else if (transfers_.run().plan().turns)
      phases_.rest(now);
    else
      phases_.leave_window(now);
  }
}

std::optional<RangeTask> ClientSession::next_task() {
  const bool recorded = phases_.phase() == LoadPhases::Phase::measuring;
  return transfers_.run().plan().turns ? transfers_.next_in_turn(group_, phases_.turn(), recorded)
                                       : transfers_.next(group_, recorded);
}

void ClientSession::begin(const RangeTask& task, Time now) {
  const TransferOptions& options = transfers_.options();
  if (transfers_.facts() == nullptr)
    return fail(Stage::verify, 0, "the server has said nothing of '" + options.name + "'", now);
  task_ = task;
  // A request that the loop sends late counts the delay as latency.
  const Duration interval = transfers_.run().plan().interval;
  Time due = interval == Duration{} || next_begin_ == Time{} ? now : next_begin_;
  if (task.recorded) due = std::max(due, *transfers_.run().opens());
  phases_.began(now, due);
  next_begin_ = due + interval;
  if (options.operation == Operation::info) return query(false, now);
  if (options.operation == Operation::put) return start_upload(task, now);
  const auto sink = transfers_.sink(group_);
  if (!sink) return fail(Stage::receive, 0, sink.error().text, now);
  start_download(**sink, task.range, now);
}

void ClientSession::await_answer(Time now) {
  found_ = false;
  moved_ = false;
  last_progress_ = now;
}

void ClientSession::query(bool wants_digest, Time now) {
  outgoing_.message({++request_, Query{transfers_.options().name, wants_digest}});
  await_answer(now);
}

void ClientSession::start_download(File& into, ByteRange range, Time now) {
  ++requests_;
  sink_ = &into;
  left_ = task_.range = range;
  outgoing_.message({++request_, Fragment{range, transfers_.options().name}});
  await_answer(now);
}

void ClientSession::start_upload(const RangeTask& task, Time now) {
  ++requests_;
  left_ = task.range;
  const Facts& facts = *transfers_.facts();
  check_ = outgoing_.message({++request_, UploadRange{.file_size = facts.size,
                                                      .range = task.range,
                                                      .id = transfers_.upload_id(connection_, task),
                                                      .digest = facts.digest,
                                                      .rehearsal = !task.recorded,
                                                      .name = transfers_.options().name}});
  sending_ = true;
  send_more();
  await_answer(now);
}

void ClientSession::send_more() {
  if (!sending_) return;
  left_ = outgoing_.data_ahead(request_, transfers_.local().source().file, left_);
  if (left_.size > 0 || !outgoing_.has_room()) return;
  outgoing_.message({request_, End{task_.range.size, std::nullopt}});
  sending_ = false;
}

void ClientSession::consumed(std::size_t n) {
  outgoing_.consumed(n);
  moved_ = true;
  phases_.moved(n, 0, now_);
  if (!failed_) send_more();
}

// The announced frame cannot be completed: the connection ends here, and the server discards the upload.
void ClientSession::on_source_failed(int error, Time now) {
  fail(Stage::send, error, error == 0 ? "the file has become shorter" : "reading the file", now);
}

void ClientSession::on_deadline(Time now) {
  if (std::exchange(moved_, false)) last_progress_ = now;
  if (busy() && now >= times_out_at())
    return fail(Stage::timeout, 0,
                fmt::format("nothing moved within the request timeout of {}",
                            format_duration(*transfers_.run().plan().request_timeout)),
                now);
  proceed(now);
}

void ClientSession::on_peer_finished(Time now) {
  const bool done = phases_.phase() == LoadPhases::Phase::over && !busy();
  if (done || failed_) return;
  std::string detail = "the server closed the connection early";
  if (requests_ > 0 && transfers_.options().requests_per_connection == 0)
    detail +=
        fmt::format(", after request {}: if it has --requests-per-connection, say the same here", requests_);
  fail(Stage::receive, 0, std::move(detail), now);
}

void ClientSession::on_failure(const Failure& failure, Time now) {
  if (!finished_) fail(failure, now);
}

void ClientSession::fail(Stage stage, int error, std::string detail, Time now) {
  fail({stage, error, std::move(detail)}, now);
}

void ClientSession::fail(const Failure& failure, Time now) {
  if (failed_) return;
  phases_.advance(now);
  failed_ = finished_ = true;
  greeting_ = getting_again_ = false;
  phases_.failed(failure, now);
  group_.failed = true;
  leave_group();
}

Time ClientSession::times_out_at() const {
  return std::max(last_progress_, last_sign_) + *transfers_.run().plan().request_timeout;
}

std::optional<Time> ClientSession::deadline() const {
  if (finished_) return std::nullopt;
  auto due = phases_.deadline();
  const auto also = [&](Time time) { due = std::min(due.value_or(time), time); };
  const LoadPhases::Phase phase = phases_.phase();
  const bool requests = phase == LoadPhases::Phase::warming || phase == LoadPhases::Phase::measuring;
  if (busy()) also(times_out_at());
  if (!busy() && requests) also(next_begin_);
  if ((verifying_ || waiting_) && !busy()) also(next_look_);
  return due;
}

}  // namespace joust::file
