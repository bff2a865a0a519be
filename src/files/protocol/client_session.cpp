// SPDX-License-Identifier: MIT
#include "files/protocol/client_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"

namespace joust::file {

void ArrivingRange::begin(File& into, ByteRange range) {
  into_ = &into;
  left_ = range_ = range;
  data_left_ = 0;
  found_ = false;
}

std::string_view ArrivingRange::take(const Facts& /*facts*/) {
  return std::exchange(found_, true) ? "a frame that is no answer" : "";
}

std::string_view ArrivingRange::take(const Data& data) {
  if (!found_ || data.size == 0 || data.size > left_.size) return "bytes without a request";
  data_left_ = data.size;
  return {};
}

std::string_view ArrivingRange::take(const End& end) const {
  return !found_ || left_.size > 0 || end.size != range_.size ? "the answer ends too early" : "";
}

void ArrivingRange::stored(std::size_t n) {
  data_left_ -= n;
  left_ = {left_.offset + n, left_.size - n};
}

void LeavingRange::begin(OutputQueue& queue, std::uint32_t request, const UploadRange& upload) {
  request_ = request;
  left_ = range_ = upload.range;
  check_ = queue.message({request, upload});
  sending_ = true;
}

void LeavingRange::add_data(OutputQueue& queue, const std::shared_ptr<File>& source) {
  if (!sending_) return;
  left_ = queue.data_ahead(request_, source, left_);
  if (left_.size > 0 || !queue.has_room()) return;
  queue.message({request_, End{range_.size, std::nullopt}});
  sending_ = false;
}

bool LeavingRange::is_stored_by(const Stored& stored) const {
  return stored.range == range_ && stored.request_check == check_;
}

namespace {

constexpr Duration kLookForClose = std::chrono::milliseconds(5);

std::string words_of(const std::string& name, const FileRefusal& refusal) {
  std::string words = fmt::format("the server says of '{}': {}", name, error_name(refusal.error));
  if (!refusal.text.empty()) words += " (" + printable(refusal.text) + ")";
  if (refusal.error == FileError::exists) words += "; 'serve --overwrite' would let uploads replace files";
  return words;
}

}  // namespace

ClientSession::ClientSession(Transfers& transfers, std::uint64_t connection)
    : transfers_(transfers),
      group_(transfers.group(connection)),
      connection_(connection),
      phases_(transfers.run()),
      watch_(*transfers.run().plan().request_timeout) {}

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
  step_ = Step::probing;
  query(operation() == Operation::get, now);
}

void ClientSession::proceed(Time now) {
  now_ = now;
  phases_.advance(now);
  const std::uint64_t most = transfers_.options().requests_per_connection;
  while (!finished() && !busy()) {
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
  if (transfers_.facts() == nullptr)
    return unexpected("the server has said nothing of '" + transfers_.options().name + "'", now);
  task_ = task;
  // A request that the loop sends late counts the delay as latency.
  const Duration interval = transfers_.run().plan().interval;
  Time due = interval == Duration{} || next_begin_ == Time{} ? now : next_begin_;
  if (task.recorded) due = std::max(due, *transfers_.run().opens());
  phases_.began(now, due);
  next_begin_ = due + interval;
  if (operation() == Operation::info) return query(false, now);
  if (operation() == Operation::put) return start_upload(now);
  const auto sink = transfers_.sink(group_);
  if (!sink) return fail({Stage::receive, 0, sink.error().text}, now);
  start_download(**sink, task.range, now);
}

void ClientSession::query(bool wants_digest, Time now) {
  queue_.message({++request_, Query{transfers_.options().name, wants_digest}});
  watch_.progressed(now);
}

void ClientSession::start_download(File& into, ByteRange range, Time now) {
  ++requests_;
  arriving_.begin(into, range);
  queue_.message({++request_, Fragment{range, transfers_.options().name}});
  watch_.progressed(now);
}

void ClientSession::start_upload(Time now) {
  ++requests_;
  const Facts& facts = *transfers_.facts();
  leaving_.begin(queue_, ++request_,
                 {.file_size = facts.size,
                  .range = task_.range,
                  .id = transfers_.upload_id(connection_, task_),
                  .digest = facts.digest,
                  .dry_run = !task_.recorded,
                  .name = transfers_.options().name});
  leaving_.add_data(queue_, transfers_.local().source().file);
  watch_.progressed(now);
}

std::size_t ClientSession::output(std::span<Segment> into) const {
  return step_ == Step::failed ? 0 : queue_.segments(into);
}

Want ClientSession::want() const {
  if (finished()) return Want::nothing;
  return arriving_.wants_data() ? Want::file : Want::bytes;
}

std::size_t ClientSession::on_bytes(Bytes chunk, Time now) {
  phases_.advance(now);
  std::size_t taken = 0;
  while (taken < chunk.size() && want() == Want::bytes) {
    const auto step = decoder_.next(chunk.subspan(taken));
    if (!step) {
      const FileRefusal& refusal = step.error().refusal;
      const bool is_damaged = refusal.error == FileError::damaged;
      unexpected(is_damaged ? refusal.text + " was damaged on the way" : "not the protocol: " + refusal.text,
                 now);
      return chunk.size();
    }
    taken += step->taken;
    if (step->message) take(*step->message, now);
  }
  phases_.moved(0, taken, now);  // bytes not taken are offered again
  proceed(now);
  return step_ == Step::failed ? chunk.size() : taken;
}

void ClientSession::on_stored(std::size_t n, Bytes seen, Time now) {
  watch_.progressed(now);
  phases_.advance(now);
  phases_.moved(0, n, now);
  if (seen.empty()) transfers_.moved_by_kernel = true;
  if (step_ != Step::again) count(n, now);
  arriving_.stored(n);
}

void ClientSession::on_store_failed(int error, Time now) {
  fail({Stage::receive, error, "writing what came"}, now);
}

void ClientSession::take(const Message& message, Time now) {
  if (!busy() || message.request != request_) return unexpected("an answer without a request", now);
  if (const auto* error = std::get_if<Error>(&message.body))
    return unexpected(words_of(transfers_.options().name, error->refusal), now);
  if (std::holds_alternative<Working>(message.body)) return watch_.server_works(now);
  watch_.progressed(now);
  if (const auto* facts = std::get_if<Facts>(&message.body)) return take_facts(*facts, now);
  if (const auto* end = std::get_if<End>(&message.body)) return take_end(*end, now);
  if (const auto* stored = std::get_if<Stored>(&message.body)) return take_stored(*stored, now);
  const auto* data = std::get_if<Data>(&message.body);
  const std::string_view objection = data == nullptr ? "a frame that is no answer" : arriving_.take(*data);
  if (!objection.empty()) unexpected(std::string(objection), now);
}

void ClientSession::take_facts(const Facts& facts, Time now) {
  if (step_ == Step::probing) {
    if (operation() == Operation::get && !facts.digest) return unexpected("the server gives no digest", now);
    step_ = Step::loading;
    transfers_.set_facts(facts);
    return phases_.opened(now);
  }
  const Facts& known = *transfers_.facts();
  const bool is_same = facts.size == known.size && facts.modified_ns == known.modified_ns;
  std::string_view objection = is_same ? "" : "the file has changed on the server";
  if (operation() == Operation::put) objection = "a frame that is no answer";
  if (operation() == Operation::get && objection.empty()) objection = arriving_.take(facts);
  if (!objection.empty()) return unexpected(std::string(objection), now);
  if (operation() == Operation::info) answered(0, now);
}

void ClientSession::take_end(const End& end, Time now) {
  if (const std::string_view objection = arriving_.take(end); !objection.empty())
    return unexpected(std::string(objection), now);
  if (step_ != Step::again) return answered(0, now);  // its bytes are counted already
  step_ = Step::verifying;
  check_digest(got_again_->value(), now);
}

void ClientSession::take_stored(const Stored& stored, Time now) {
  if (step_ == Step::probing || operation() != Operation::put)
    return unexpected("a frame that is no answer", now);
  if (leaving_.is_leaving()) return unexpected("stored before it was sent", now);
  if (!leaving_.is_stored_by(stored)) return unexpected("another range was stored than was sent", now);
  if (stored.complete && stored.digest != transfers_.facts()->digest)
    return unexpected("what was stored has another digest than what was sent", now);
  if (stored.complete && task_.recorded) {
    ++transfers_.digested;
    ++group_.stored;
  }
  answered(task_.range.size, now);
}

// Counts the bytes of files in the timed window, for all ranges: those begun in the warm-up move in the
// window too.
void ClientSession::count(std::uint64_t bytes, Time now) {
  if (phases_.in_window(now)) transfers_.bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void ClientSession::answered(std::uint64_t bytes_moved, Time now) {
  count(bytes_moved, now);
  if (task_.recorded) ++group_.done;
  phases_.verified(now);
  next_begin_ = std::max(next_begin_, now);  // later requests are moved back; no burst makes up for it
}

void ClientSession::consumed(std::size_t n) {
  queue_.consumed(n);
  watch_.moved();
  phases_.moved(n, 0, now_);
  if (step_ != Step::failed) leaving_.add_data(queue_, transfers_.local().source().file);
}

// The announced frame cannot be completed: the connection ends here, and the server discards the upload.
void ClientSession::on_source_failed(int error, Time now) {
  fail({Stage::send, error, error == 0 ? "the file has become shorter" : "reading the file"}, now);
}

void ClientSession::on_deadline(Time now) {
  watch_.look(now);
  if (busy() && now >= watch_.ends())
    return fail(
        {Stage::timeout, 0,
         fmt::format("nothing moved within the request timeout of {}", format_duration(watch_.patience()))},
        now);
  proceed(now);
}

void ClientSession::on_peer_finished(Time now) {
  const bool done = phases_.phase() == LoadPhases::Phase::over && !busy();
  if (done || step_ == Step::failed) return;
  std::string detail = "the server closed the connection early";
  if (requests_ > 0 && transfers_.options().requests_per_connection == 0)
    detail +=
        fmt::format(", after request {}: if it has --requests-per-connection, say the same here", requests_);
  fail({Stage::receive, 0, std::move(detail)}, now);
}

void ClientSession::on_failure(const Failure& failure, Time now) {
  if (!finished()) fail(failure, now);
}

void ClientSession::fail(const Failure& failure, Time now) {
  if (step_ == Step::failed) return;
  phases_.advance(now);
  phases_.failed(failure, now);
  end_by_failure();
}

void ClientSession::end_by_failure() {
  step_ = Step::failed;
  group_.failed = true;
  leave_group();
}

std::optional<Time> ClientSession::deadline() const {
  if (finished()) return std::nullopt;
  auto due = phases_.deadline();
  const auto also = [&](Time time) { due = std::min(due.value_or(time), time); };
  const LoadPhases::Phase phase = phases_.phase();
  const bool requests = phase == LoadPhases::Phase::warming || phase == LoadPhases::Phase::measuring;
  if (busy()) also(watch_.ends());
  if (!busy() && requests) also(next_begin_);
  if (step_ == Step::verifying || step_ == Step::waiting) also(next_look_);
  return due;
}

// Ends the connection's part of the load. The last connection of a group verifies the file.
void ClientSession::finish_load(Time now) {
  if (step_ == Step::verifying) return verify(now);
  const bool last = leave_group();
  if (last && worth_verifying()) {
    step_ = Step::verifying;
    return verify(now);
  }
  const bool puts = operation() == Operation::put && !stopped_ && !group_.failed;
  const LoadPlan& plan = transfers_.run().plan();
  const bool whole = plan.messages || plan.turns;  // no transfer is cut off by the time
  if (last && puts && whole && group_.stored < group_.done / transfers_.segments())
    return unexpected("the server has every range, and has not said that the file is complete", now);
  // The server keeps an incomplete upload only while a connection that sent a range of it is open.
  step_ = puts && group_.members > 0 ? Step::waiting : Step::finished;
  next_look_ = now + kLookForClose;
}

bool ClientSession::worth_verifying() const {
  const Facts* facts = transfers_.facts();
  return operation() == Operation::get && !stopped_ && !group_.failed && facts != nullptr && facts->digest &&
         transfers_.complete(group_);
}

// Verifies after the window, so that digesting does not affect the measurement.
void ClientSession::verify(Time now) {
  const auto closes = transfers_.run().closes();
  if (!closes || now < *closes) {
    next_look_ = now + kLookForClose;
    return;
  }
  next_look_ = now;
  const Facts& facts = *transfers_.facts();
  if (!group_.sink->keeps()) {
    const std::uint64_t most = transfers_.options().requests_per_connection;
    if (!transfers_.is_first_group(group_) || (most > 0 && requests_ >= most)) {
      step_ = Step::finished;
      return;
    }
    step_ = Step::again;
    got_again_ = std::make_unique<DigestedFile>(facts.size);
    task_.range = {0, facts.size};
    return start_download(*got_again_, task_.range, now);
  }
  if (!digest_) digest_.emplace(facts.size);
  const auto through = digest_->advance(group_.sink->file());
  if (!through) return fail({Stage::verify, through.error(), "reading what was received"}, now);
  if (*through) check_digest(digest_->value(), now);
}

void ClientSession::check_digest(const Digest& digest, Time now) {
  const Digest& expected = *transfers_.facts()->digest;
  if (digest != expected)
    return unexpected("the digest is " + to_hex(digest) + ", the server's is " + to_hex(expected), now);
  if (auto kept = group_.sink->accept(); !kept) return fail({Stage::receive, 0, kept.error().text}, now);
  ++transfers_.digested;
  step_ = Step::finished;
}

// An upload whose bytes have all been sent is answered; any other request is cut off, and the server discards
// an incomplete upload.
void ClientSession::on_drain(Time now) {
  phases_.advance(now);
  stopped_ = !phases_.at_rest();  // between turns a stop is the ordinary end
  phases_.stopped(now);
  if (step_ == Step::probing) return fail({Stage::receive, 0, "stopped before the start"}, now);
  if (step_ == Step::verifying || step_ == Step::again) step_ = Step::loading;
  phases_.leave_window(now);
  const bool sent = operation() == Operation::put && !leaving_.is_leaving() && queue_.waiting() == 0;
  if (busy() && !sent) return end_by_failure();
  proceed(now);
}

}  // namespace joust::file
