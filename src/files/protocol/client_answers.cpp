// SPDX-License-Identifier: MIT
//
// The client's handling of the server's frames.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.hpp"
#include "files/protocol/client_session.hpp"

namespace joust::file {

std::string ClientSession::words_of(const FileRefusal& refusal) const {
  const TransferOptions& options = transfers_.options();
  std::string words = fmt::format("the server says of '{}': {}", options.name, error_name(refusal.error));
  if (!refusal.text.empty()) words += " (" + printable(refusal.text) + ")";
  if (refusal.error == FileError::exists) words += "; 'serve --overwrite' would let uploads replace files";
  return words;
}

std::size_t ClientSession::output(std::span<Segment> into) const {
  return failed_ ? 0 : outgoing_.segments(into);
}

Want ClientSession::want() const {
  if (finished_) return Want::nothing;
  return data_left_ > 0 ? Want::file : Want::bytes;
}

std::size_t ClientSession::on_bytes(Bytes chunk, Time now) {
  phases_.advance(now);
  std::size_t taken = 0;
  while (taken < chunk.size() && want() == Want::bytes) {
    const auto step = decoder_.next(chunk.subspan(taken));
    if (!step) {
      const FileRefusal& refusal = step.error().refusal;
      const bool is_damaged = refusal.error == FileError::damaged;
      fail(Stage::verify, 0,
           is_damaged ? refusal.text + " was damaged on the way" : "not the protocol: " + refusal.text, now);
      return chunk.size();
    }
    taken += step->taken;
    if (step->message) take(*step->message, now);
  }
  phases_.moved(0, taken, now);  // bytes not taken are offered again
  proceed(now);
  return failed_ ? chunk.size() : taken;
}

void ClientSession::on_stored(std::size_t n, Bytes seen, Time now) {
  last_progress_ = now;
  phases_.advance(now);
  phases_.moved(0, n, now);
  if (seen.empty()) transfers_.moved_by_kernel = true;
  if (!getting_again_) count(n, now);
  data_left_ -= n;
  left_ = {left_.offset + n, left_.size - n};
}

void ClientSession::on_store_failed(int error, Time now) {
  fail(Stage::receive, error, "writing what came", now);
}

void ClientSession::take(const Message& message, Time now) {
  if (!busy() || message.request != request_)
    return fail(Stage::verify, 0, "an answer without a request", now);
  if (const auto* error = std::get_if<Error>(&message.body))
    return fail(Stage::verify, 0, words_of(error->refusal), now);
  if (const auto* working = std::get_if<Working>(&message.body)) return on_answer(*working, now);
  last_progress_ = now;
  if (const auto* facts = std::get_if<Facts>(&message.body)) return on_answer(*facts, now);
  if (const auto* data = std::get_if<Data>(&message.body)) return on_answer(*data, now);
  if (const auto* end = std::get_if<End>(&message.body)) return on_answer(*end, now);
  if (const auto* stored = std::get_if<Stored>(&message.body)) return on_answer(*stored, now);
  fail(Stage::verify, 0, "a frame that is no answer", now);
}

void ClientSession::on_answer(const Facts& facts, Time now) {
  if (greeting_) {
    if (transfers_.options().operation == Operation::get && !facts.digest)
      return fail(Stage::verify, 0, "the server gives no digest", now);
    greeting_ = false;
    transfers_.set_facts(facts);
    return phases_.opened(now);
  }
  const Facts& known = *transfers_.facts();
  if (found_ || transfers_.options().operation == Operation::put)
    return fail(Stage::verify, 0, "a frame that is no answer", now);
  if (facts.size != known.size || facts.modified_ns != known.modified_ns)
    return fail(Stage::verify, 0, "the file has changed on the server", now);
  found_ = true;
  if (transfers_.options().operation == Operation::info) answered(0, now);
}

// Accepts reports of work without a byte or an answer for kLongestWork at most: the server may be working, or
// serving others first.
void ClientSession::on_answer(const Working&, Time now) {
  constexpr Duration kLongestWork = std::chrono::minutes(30);
  if (now - last_progress_ < kLongestWork) last_sign_ = now;
}

void ClientSession::on_answer(const Data& data, Time now) {
  if (data.size == 0) return fail(Stage::verify, 0, "a frame of no bytes", now);
  if (!found_ || data.size > left_.size) return fail(Stage::verify, 0, "bytes without a request", now);
  data_left_ = data.size;
}

void ClientSession::on_answer(const End& end, Time now) {
  if (!found_ || left_.size > 0 || end.size != task_.range.size)
    return fail(Stage::verify, 0, "the answer ends too early", now);
  if (!std::exchange(getting_again_, false)) return answered(0, now);  // its bytes are counted already
  check_digest(got_again_->value(), now);
}

void ClientSession::on_answer(const Stored& stored, Time now) {
  if (greeting_ || transfers_.options().operation != Operation::put)
    return fail(Stage::verify, 0, "a frame that is no answer", now);
  if (sending_) return fail(Stage::verify, 0, "stored before it was sent", now);
  if (stored.range.offset != task_.range.offset || stored.range.size != task_.range.size ||
      stored.request_check != check_)
    return fail(Stage::verify, 0, "another range was stored than was sent", now);
  if (stored.complete && stored.digest != transfers_.facts()->digest)
    return fail(Stage::verify, 0, "what was stored has another digest than what was sent", now);
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

}  // namespace joust::file
