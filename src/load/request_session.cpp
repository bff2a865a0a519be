// SPDX-License-Identifier: MIT
#include "load/request_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/units.hpp"

namespace joust {

RequestSession::RequestSession(const Framing& framing, std::unique_ptr<Exchange> exchange, LoadRun& run,
                               Channel& channel, const Delivery& delivery)
    : exchange_(std::move(exchange)),
      lossy_(delivery.lossy ? std::make_unique<Lossy>(exchange_->carries_numbers()) : nullptr),
      run_(run),
      plan_(run.plan()),
      framing_(framing),
      deframer_(framing),
      unsent_frame_bytes_(delivery.by_message() ? Length4::kSizeBytes : 0),
      schedule_(channel.schedule ? *channel.schedule : Schedule(plan_, channel.number)),
      channel_(std::move(channel)) {
  if (channel_.handover) take_over(*std::exchange(channel_.handover, nullptr));
}

void RequestSession::on_open(Time now) {
  if (greeted_) return go_on(now);
  greets_ = greet(now);
  last_message_ = now;
  if (!greets_) ready(now);
}

void RequestSession::ready(Time now) {
  greeted_ = true;
  if (channel_.opened) return reconnect(now);
  channel_.opened = true;
  fill(now);  // before the count, because the start may follow at once
  run_.opened(now);
}

// Returns true while written requests must not be shown yet.
bool RequestSession::shut() const {
  if (!greeted_) return false;
  if (phase_ == Phase::waiting) return !begins();
  if (phase_ == Phase::ready) return !run_.opens();
  return false;
}

// Returns true if the current phase has another request, regardless of slots and time.
bool RequestSession::has_more() const {
  if (!greeted_ || finished_ || phase_ == Phase::settling || phase_ == Phase::finishing) return false;
  const auto most = most_requests();
  const bool for_window = phase_ == Phase::waiting ? plan_.warmup == Duration{} : phase_ != Phase::warming;
  return !most || !(for_window || plan_.turns) || in_window_ < *most;
}

// Returns the number of requests. The size of a counted turn is not known before it begins, but it has at
// least one request.
std::optional<std::uint64_t> RequestSession::most_requests() const {
  if (!plan_.counted_turns) return plan_.messages;
  return phase_ == Phase::waiting ? 1 : run_.messages_in_turn();
}

bool RequestSession::may_send(Time now) const {
  if (!wants_to_send()) return false;
  // Other members may wait for a message, so none is written before it can be sent.
  if (plan_.turns && greets_ && in_advance()) return false;
  if (!plan_.has_schedule()) return true;
  // In an open loop the time of each send is a result, so none is written in advance.
  if (in_advance()) return !plan_.open_loop() && schedule_.begins_with_all() && intended_.empty();
  return now >= schedule_.next();
}

// Writes requests. By a schedule, a request's intended time is its place in the schedule, however late the
// loop sends it. The delay counts as latency; otherwise a slow client would hide the latency that it causes.
void RequestSession::fill(Time now) {
  Writer request(framing_, outbox_);
  const std::size_t before = outbox_.size();
  const std::uint64_t first = requests_;
  if (held_back_ && has_room()) free_slot(now);
  while (has_room() && may_send(now)) send_due(now, request);
  held_back_ = !has_room() && wants_to_send();
  const std::uint64_t bytes = outbox_.size() - before - (requests_ - first) * unsent_frame_bytes_;
  if (in_advance()) unseen_bytes_ += bytes;
  if (records(now)) run_.recorder().bytes_sent(bytes);
}

void RequestSession::send_due(Time now, Writer& request) {
  const bool by_schedule = plan_.has_schedule() && !in_advance();
  const Time intended = by_schedule ? schedule_.next() : now;
  if (lossy_)
    write_numbered(request);
  else
    exchange_->write_request(requests_, request);
  ++requests_;
  intended_.push(intended);
  if (phase_ == Phase::measuring || phase_ == Phase::ready || plan_.warmup == Duration{}) ++in_window_;
  if (by_schedule) schedule_.advance();
  if (plan_.open_loop()) sent_.push(now);
  if (in_advance() || !records(now) || !is_of_window(intended)) return;
  run_.recorder().sent(1);
  if (plan_.open_loop()) run_.recorder().sent_late(now - std::max(intended, slot_free_));
}

std::size_t RequestSession::on_bytes(Bytes chunk, Time now) {
  advance(now);
  const bool counts = records(now);
  std::size_t taken = 0;
  while (taken < chunk.size() && !failed_ && !ended_) {
    if (intended_.empty() && !greets_ && !lossy_) {
      refuse({.complaint = "there are bytes that no request asked for",
              .request = replies_,
              .came = chunk.subspan(taken)},
             now);
      break;
    }
    if (std::holds_alternative<Raw>(framing_)) deframer_.expect(exchange_->reply_size(replies_));
    const Deframer::Step step = deframer_.next(chunk.subspan(taken));
    taken += step.taken;
    if (step.status == Deframer::Status::malformed)
      refuse({.complaint = deframer_.complaint(), .request = replies_, .came = chunk}, now);
    if (step.status == Deframer::Status::message)
      lossy_ ? check_numbered(step.message, now) : check(step.message, now);
  }
  // Bytes not taken are offered again. Over a message transport this was one message.
  if (counts) run_.recorder().bytes_received(taken - std::min(taken, unsent_frame_bytes_));
  fill(now);
  conclude(now);
  conclude_last(now);
  return failed_ || ended_ ? chunk.size() : taken;
}

void RequestSession::check(Bytes message, Time now) {
  last_message_ = now;  // not on single bytes: a peer that sends one now and then would never be given up
  const MessageKind kind = exchange_->classify(replies_, message);
  const bool is_reply = kind == MessageKind::reply || (kind == MessageKind::last_reply && !greets_);
  const bool fits = is_reply                        ? !intended_.empty()
                    : kind == MessageKind::greeting ? greets_ && !greeted_
                                                    : kind == MessageKind::other;
  if (!fits) return refuse_reply(replies_, message, now);
  if (is_reply) answered(0, now);
  if (kind == MessageKind::last_reply) ended_ = true;
  if (kind == MessageKind::greeting) ready(now);
}

void RequestSession::refuse_reply(std::uint64_t request, Bytes came, Time now) {
  refuse({.complaint = exchange_->complaint(),
          .request = request,
          .expected = intended_.empty() ? Bytes() : exchange_->expected(request),
          .came = came},
         now);
}

void RequestSession::refuse(WrongReply wrong, Time now) {
  wrong.connection = channel_.number;
  fail({Stage::verify, 0, describe(wrong)}, now);
}

// Records the reply to the request at `place`, where 0 is the oldest.
void RequestSession::answered(std::size_t place, Time now) {
  ++replies_;
  free_slot(now);
  if (lossy_) lossy_->outstanding.remove(place);
  const Time intended = intended_.take(place);
  record(intended, plan_.open_loop() ? sent_.take(place) : intended, now);
}

// Notes a free slot. Called before a request is removed, or when the outbox has room for one.
void RequestSession::free_slot(Time now) {
  if (intended_.size() < plan_.depth && !held_back_) return;
  slot_free_ = now;
  // Closed loop: all slots were in use, so later sends are moved back, and no burst makes up for them.
  if (plan_.has_schedule() && !plan_.open_loop()) schedule_.move_back(now);
}

void RequestSession::forget_requests() {
  intended_.clear();
  sent_.clear();
  if (lossy_) lossy_->outstanding.clear();
}

void RequestSession::record(Time intended, Time sent, Time now) {
  const bool counts = records(now) && is_of_window(intended);
  Recorder& recorder = run_.recorder();
  if (plan_.turns || plan_.open_loop()) recorder.replied(now, !counts);
  if (!counts) {
    if (plan_.turns) recorder.beside();
    return;
  }
  recorder.verified(now - intended, now - opens_);
  if (plan_.open_loop()) recorder.uncorrected(now - sent);
  if (!std::exchange(answered_, true)) recorder.answered();
}

void RequestSession::fail(const Failure& failure, Time now) {
  if (failed_) return;
  advance(now);
  if (leaves_channel(failure)) return leave_channel(failure, now);
  lose_schedule();
  failed_ = finished_ = true;
  if (!greeted_) return run_.not_opened(failure, now);
  exchange_->on_failure();
  last_request(now);
  run_.failed(failure);
  if (records(now)) run_.recorder().failed(in_flight_of_window());
  if (phase_ < Phase::ready && plan_.messages && plan_.warmup != Duration{}) run_.settled(now);
  if (!plan_.turns) {
    if (!std::exchange(left_window_, true) || plan_.open_loop()) run_.measured(now);
  } else if (phase_ != Phase::finishing) {
    run_.gone(turn_, phase_ == Phase::waiting, now);
  }
  forget_requests();
  phase_ = Phase::finishing;
}

// The end of the stream may be the end of a reply too.
void RequestSession::on_peer_finished(Time now) {
  if (finished_) return;
  const Deframer::Step step = deframer_.end();
  if (step.status == Deframer::Status::malformed)
    return fail({Stage::verify, 0, std::string(deframer_.complaint())}, now);
  if (step.status == Deframer::Status::message) {
    advance(now);
    check(step.message, now);
    conclude(now);
    conclude_last(now);
  }
  if (!finished_) fail({Stage::receive, 0, "the server closed the connection early"}, now);
}

void RequestSession::on_deadline(Time now) {
  advance(now);
  if (lossy_)
    on_lossy_deadline(now);
  else if (!intended_.empty() && !shut() && now >= oldest_sent() + *plan_.request_timeout)
    fail({Stage::timeout, 0,
          "no reply within the request timeout of " + format_duration(*plan_.request_timeout)},
         now);
  else if (waits_for_others() && (!greeted_ || !all_received()) &&
           now >= last_message_ + *plan_.request_timeout)
    fail({Stage::timeout, 0,
          fmt::format("nothing came within the request timeout of {}, and not all is there",
                      format_duration(*plan_.request_timeout))},
         now);
  fill(now);
  conclude(now);
}

void RequestSession::on_drain(Time now) {
  advance(now);
  run_.stopped(now);
  if (!greeted_) return fail({Stage::receive, ECANCELED, "the greeting"}, now);
  if (shut() || phase_ == Phase::waiting) {
    // The requests written in advance have not been shown.
    const std::size_t unseen = outbox_.size();
    outbox_.consumed(unseen);
    outbox_.released(unseen);
    exchange_->on_withdrawn(intended_.size());
    forget_requests();
  }
  closes_ = std::min(closes_, now);
  if (phase_ == Phase::measuring) leave_window(now);
  cut_off(now);  // in the middle of a turn, or of an open loop
  phase_ = Phase::finishing;
  conclude(now);
}

// Returns true if only the greeting's answer or messages of other members are outstanding.
bool RequestSession::waits_for_others() const {
  return !greeted_ || (last_request_ && intended_.empty());
}

std::optional<Time> RequestSession::deadline() const {
  if (finished_ || shut()) return std::nullopt;
  if (greeted_ && phase_ == Phase::waiting) return run_.start();  // at once when the start is known
  if (lossy_ && !greeted_) return lossy_->greet_next;
  // Other members may have completed this connection: on_deadline() is then called at once.
  if (waits_for_others())
    return last_request_ && all_received() ? last_message_ : last_message_ + *plan_.request_timeout;
  if (phase_ == Phase::ready && intended_.empty()) return run_.opens();
  Time due = border();
  if (!intended_.empty()) due = std::min(due, oldest_sent() + *plan_.request_timeout);
  const bool has_place = plan_.has_schedule() ? has_room() : held_back_ && outbox_.size() <= kMostUnsent / 2;
  if (has_place && wants_to_send()) due = plan_.has_schedule() ? std::min(due, schedule_.next()) : Time{};
  return due == Time::max() ? std::nullopt : std::optional(due);
}

}  // namespace joust
