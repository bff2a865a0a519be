// SPDX-License-Identifier: MIT
#include "protocols/http/server_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace joust::http {
namespace {

// The number of bytes of unread replies from which on no further requests are read.
constexpr std::size_t kMostUnread = 256 << 10;

Status status_of(HeadCutter::Status cut) {
  if (cut == HeadCutter::Status::target_too_long) return Status::target_too_long;
  return cut == HeadCutter::Status::head_too_long ? Status::fields_too_large : Status::bad_request;
}

}  // namespace

HttpSession::~HttpSession() {
  site_.counts.requests.fetch_add(requests_, std::memory_order_relaxed);
}

Want HttpSession::want() const {
  return rests() || drained() ? Want::nothing : Want::bytes;
}

bool HttpSession::rests() const {
  return over_ || pauses_ || body_.file || outbox_.size() >= kMostUnread;
}

std::size_t HttpSession::on_bytes(Bytes chunk, Time now) {
  std::size_t taken = 0, behind_heads = 0;
  while (taken < chunk.size() && !rests()) {
    const HeadCutter::Step step = cutter_.next(chunk.subspan(taken));
    taken += step.taken;
    behind_heads += step.taken;
    if (step.status == HeadCutter::Status::need_more) continue;
    if (step.status == HeadCutter::Status::head) {
      incoming_rate_.reset();  // each head has its own time, and its own bytes
      behind_heads = 0;
      answer(step.head, now);
      pauses_ = replies_in_turn_ >= kMostRepliesInTurn && taken < chunk.size();
    } else {
      refuse_unread(status_of(step.status), now);
    }
  }
  behind_ = taken < chunk.size();
  incoming_rate_.moved(behind_heads);
  watch_rates(now);
  return taken;
}

void HttpSession::answer(Bytes head, Time now) {
  ++requests_;
  if (now > turn_) replies_in_turn_ = 0;
  turn_ = now;
  ++replies_in_turn_;
  const auto request = parse_request(head);
  if (!request) return refuse_unread(request.error(), now);
  const bool is_last = site_.requests_per_connection > 0 && requests_ >= site_.requests_per_connection;
  closes_ = is_last || !request->keeps_alive;
  is_1_0_ = request->is_1_0;
  is_head_ = request->method == Method::head;
  answer(*request, now);
  over_ = over_ || closes_;
}

std::size_t HttpSession::output(std::span<Segment> into) const {
  const std::size_t count = outbox_.segments(into);
  if (body_.left == 0 || count == into.size()) return count;
  into[count] = {.file = {body_.file.get(), body_.offset, body_.left}};
  return count + 1;
}

void HttpSession::consumed(std::size_t n) {
  const std::size_t head = std::min(n, outbox_.size());
  if (head > 0) outbox_.consumed(head);
  body_.offset += n - head;
  body_.left -= n - head;
  outgoing_rate_.moved(n);
  if (waiting() == 0) outgoing_rate_.reset();
}

// Nothing is appended to the outbox while a body exists, so all of its bytes come before those of the body.
void HttpSession::released(std::size_t n) {
  const std::size_t head = std::min<std::uint64_t>(n, unreleased_);
  if (head > 0) outbox_.released(head);
  unreleased_ -= head;
  if (!body_.file) return;
  body_.unreleased -= n - head;
  site_.counts.bytes_sent.fetch_add(n - head, std::memory_order_relaxed);
  if (body_.unreleased == 0) body_ = {};
}

// Ends the connection, because the head has announced more bytes than exist. Anything else would be taken for
// the file's bytes.
void HttpSession::on_source_failed(int /*error*/, Time now) {
  site_.counts.cut_off.fetch_add(1, std::memory_order_relaxed);
  body_.unreleased -= std::exchange(body_.left, 0);
  if (body_.unreleased == 0) body_ = {};
  over_ = true;
  watch_rates(now);
}

void HttpSession::on_peer_finished(Time now) {
  over_ = true;
  watch_rates(now);
}

void HttpSession::on_drain(Time now) {
  draining_ = true;
  watch_rates(now);
}

std::optional<Time> HttpSession::deadline() const {
  if (pauses_) return turn_;  // due at once, in the next turn
  return earlier(incoming_rate_.deadline(), outgoing_rate_.deadline());
}

void HttpSession::on_deadline(Time now) {
  pauses_ = false;
  replies_in_turn_ = 0;
  if (outgoing_rate_.missed(now)) {
    site_.counts.too_slow.fetch_add(1, std::memory_order_relaxed);
    gives_up_ = true;
    complaint_ = "a reply is read " + outgoing_rate_.complaint();
  } else if (incoming_rate_.missed(now)) {
    site_.counts.too_slow.fetch_add(1, std::memory_order_relaxed);
    const std::string complaint = "a request comes " + incoming_rate_.complaint();
    refuse_unread(Status::request_timeout, now);
    complaint_ = complaint;
  }
  watch_rates(now);
}

void HttpSession::watch_rates(Time now) {
  incoming_rate_.expect(cutter_.in_head() && !over_, want() == Want::bytes, now);
  outgoing_rate_.expect(waiting() > 0, true, now);
}

// Refuses a request that cannot be read: nothing is known of it, least of all that it needs no body.
void HttpSession::refuse_unread(Status status, Time now) {
  is_1_0_ = is_head_ = false;
  refuse(status, now);
}

// Refuses a request and ends the connection. Bytes after the request are not read, because the start of the
// next request is unknown.
void HttpSession::refuse(Status status, Time now) {
  closes_ = over_ = true;
  send_status(status, now);
  complaint_ = fmt::format("a request is refused: {} {}", static_cast<unsigned>(status), reason_of(status));
}

}  // namespace joust::http
