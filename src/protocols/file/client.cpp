// SPDX-License-Identifier: MIT
#include "protocols/file/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace joust::file {
namespace {

constexpr Duration kLookForClose = std::chrono::milliseconds(5);

}  // namespace

ClientSession::ClientSession(Errand& errand, std::uint64_t connection)
    : errand_(errand), team_(errand.team(connection)), connection_(connection), course_(errand.run()) {}

ClientSession::~ClientSession() {
  if (in_team_) team_.failed = true;
  leave_team();
}

bool ClientSession::leave_team() {
  return std::exchange(in_team_, false) && --team_.members == 0;
}

// The first connection asks about the file; the others need no more than its answer.
void ClientSession::on_open(Time now) {
  now_ = now;
  if (connection_ != 0 || errand_.facts() != nullptr) return course_.opened(now);
  greeting_ = true;
  query(errand_.orders().operation == Operation::get, now);
}

void ClientSession::go_on(Time now) {
  now_ = now;
  course_.advance(now);
  const std::uint64_t most = errand_.orders().requests_per_connection;
  while (!failed_ && !finished_ && !busy()) {
    const Course::Phase phase = course_.phase();
    if (phase == Course::Phase::over) return come_to_end(now);
    if (phase != Course::Phase::warming && phase != Course::Phase::measuring) return;
    if (now < next_begin_) return;
    const bool used_up = most > 0 && requests_ >= most;
    const auto task = used_up ? std::nullopt : errand_.next(team_, phase == Course::Phase::measuring);
    if (task)
      begin(*task, now);
    else
      course_.leave_window(now);
  }
}

void ClientSession::begin(const Task& task, Time now) {
  const Orders& orders = errand_.orders();
  if (errand_.facts() == nullptr)
    return fail(Stage::verify, 0, "the server has said nothing of '" + orders.name + "'", now);
  task_ = task;
  // Who is late by the schedule, because the loop was, counts that as latency.
  const Duration interval = errand_.run().plan().interval;
  Time due = interval == Duration{} || next_begin_ == Time{} ? now : next_begin_;
  if (task.recorded) due = std::max(due, *errand_.run().opens());
  course_.began(now, due);
  next_begin_ = due + interval;
  if (orders.operation == Operation::info) return query(false, now);
  if (orders.operation == Operation::put) return bring(task, now);
  const auto sink = errand_.sink(team_);
  if (!sink) return fail(Stage::receive, 0, sink.error().text, now);
  fetch(**sink, task.range, now);
}

void ClientSession::follow(Time now) {
  found_ = false;
  moved_ = false;
  last_progress_ = now;
}

void ClientSession::query(bool wants_digest, Time now) {
  outgoing_.message({++request_, Query{errand_.orders().name, wants_digest}});
  follow(now);
}

void ClientSession::fetch(File& into, ByteRange range, Time now) {
  ++requests_;
  sink_ = &into;
  left_ = task_.range = range;
  outgoing_.message({++request_, Fragment{range, errand_.orders().name}});
  follow(now);
}

void ClientSession::bring(const Task& task, Time now) {
  ++requests_;
  left_ = task.range;
  const Facts& facts = *errand_.facts();
  outgoing_.message({++request_, UploadRange{.file_size = facts.size,
                                             .range = task.range,
                                             .id = errand_.upload_id(connection_, task),
                                             .digest = facts.digest,
                                             .rehearsal = !task.recorded,
                                             .name = errand_.orders().name}});
  sending_ = true;
  send_more();
  follow(now);
}

void ClientSession::send_more() {
  if (!sending_) return;
  left_ = outgoing_.data_ahead(request_, errand_.ends().source().file, left_);
  if (left_.size > 0 || !outgoing_.has_room()) return;
  outgoing_.message({request_, End{task_.range.size, std::nullopt}});
  sending_ = false;
}

void ClientSession::consumed(std::size_t n) {
  outgoing_.consumed(n);
  moved_ = true;
  course_.moved(n, 0, now_);
  if (!failed_) send_more();
}

// The frame that was announced cannot be filled: the connection ends here, and the server throws away what it
// has of the upload.
void ClientSession::on_source_failed(int error, Time now) {
  fail(Stage::send, error, error == 0 ? "the file has become shorter" : "reading the file", now);
}

// The connection has done its part. The last one of a team sees whether all that came is right.
void ClientSession::come_to_end(Time now) {
  if (verifying_) return verify(now);
  const bool last = leave_team();
  if (last && worth_verifying()) {
    verifying_ = true;
    return verify(now);
  }
  const bool puts = errand_.orders().operation == Operation::put && !stopped_ && !team_.failed;
  if (last && puts && errand_.run().plan().messages && team_.stored < team_.done / errand_.segments())
    return fail(Stage::verify, 0, "the server has every range, and has not said that the file is complete",
                now);
  // The server keeps what has come of an upload for as long as somebody who brought some of it is there.
  waiting_ = puts && team_.members > 0;
  next_look_ = now + kLookForClose;
  finished_ = !waiting_;
}

bool ClientSession::worth_verifying() const {
  const Facts* facts = errand_.facts();
  return errand_.orders().operation == Operation::get && !stopped_ && !team_.failed && facts != nullptr &&
         facts->digest && errand_.complete(team_);
}

// After the window, so that the digest costs no engine anything.
void ClientSession::verify(Time now) {
  const auto closes = errand_.run().closes();
  if (!closes || now < *closes) {
    next_look_ = now + kLookForClose;
    return;
  }
  next_look_ = now;
  const Facts& facts = *errand_.facts();
  if (!team_.sink->keeps()) {
    const std::uint64_t most = errand_.orders().requests_per_connection;
    if (!errand_.first_team(team_) || (most > 0 && requests_ >= most)) {
      finished_ = true;
      return;
    }
    refetching_ = true;
    refetched_ = std::make_unique<DigestedFile>(facts.size);
    return fetch(*refetched_, {0, facts.size}, now);
  }
  if (!digest_) digest_.emplace(facts.size);
  const auto through = digest_->advance(team_.sink->file());
  if (!through) return fail(Stage::verify, through.error(), "reading what was received", now);
  if (*through) judge(digest_->value(), now);
}

void ClientSession::judge(const Digest& digest, Time now) {
  const Digest& expected = *errand_.facts()->digest;
  if (digest != expected)
    return fail(Stage::verify, 0, "the digest is " + to_hex(digest) + ", the server's is " + to_hex(expected),
                now);
  if (auto kept = team_.sink->accept(); !kept) return fail(Stage::receive, 0, kept.error().text, now);
  ++errand_.digested;
  finished_ = true;
}

void ClientSession::on_deadline(Time now) {
  if (std::exchange(moved_, false)) last_progress_ = now;
  if (busy() && now >= last_progress_ + errand_.run().plan().request_timeout)
    return fail(Stage::timeout, 0, "nothing moved within the request timeout", now);
  go_on(now);
}

void ClientSession::on_drain(Time now) {
  stopped_ = true;
  course_.advance(now);
  if (greeting_) return fail(Stage::receive, 0, "stopped before the start", now);
  verifying_ = refetching_ = false;
  course_.leave_window(now);
  const bool brought = errand_.orders().operation == Operation::put && !sending_ && outgoing_.waiting() == 0;
  if (busy() && !brought) return break_off();
  go_on(now);
}

// A server that has not got all of an upload keeps nothing of it.
void ClientSession::break_off() {
  failed_ = finished_ = true;
  team_.failed = true;
  leave_team();
}

void ClientSession::on_peer_finished(Time now) {
  const bool done = course_.phase() == Course::Phase::over && !busy();
  if (done || failed_) return;
  std::string detail = "the server closed the connection early";
  if (requests_ > 0 && errand_.orders().requests_per_connection == 0)
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
  course_.advance(now);
  failed_ = finished_ = true;
  greeting_ = refetching_ = false;
  course_.failed(failure, now);
  team_.failed = true;
  leave_team();
}

std::optional<Time> ClientSession::deadline() const {
  if (finished_) return std::nullopt;
  auto due = course_.deadline();
  const auto also = [&](Time time) { due = std::min(due.value_or(time), time); };
  const Course::Phase phase = course_.phase();
  const bool requests = phase == Course::Phase::warming || phase == Course::Phase::measuring;
  if (busy()) also(last_progress_ + errand_.run().plan().request_timeout);
  if (!busy() && requests) also(next_begin_);
  if ((verifying_ || waiting_) && !busy()) also(next_look_);
  return due;
}

}  // namespace joust::file
