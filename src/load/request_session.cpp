// SPDX-License-Identifier: MIT
#include "load/request_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "base/units.hpp"
#include "session/handler_session.hpp"

namespace joust {
namespace {

constexpr Duration kGreetEvery = std::chrono::milliseconds(200);
constexpr Duration kGreetFor = std::chrono::seconds(10);

constexpr auto kClosedIdle =
    "the server closed the connection while nothing was under way; if it closes idle connections, "
    "--reconnect always dials again";
constexpr auto kClosedEarly =
    "the server closed the connection early; if it refused a message, its output has the reason";

Progress progress_of(LoadRun& run, Channel& channel, bool lossy) {
  if (!channel.handover) return Progress(run, channel, lossy);
  return std::move(channel.handover->progress);
}

}  // namespace

// Takes a handover before the connection is open, so that a failure to open it counts as a failure of a
// connection with these requests.
RequestSession::RequestSession(const Framing& framing, std::unique_ptr<Exchange> exchange, LoadRun& run,
                               Channel& channel, const Delivery& delivery)
    : lossy_(delivery.lossy),
      unsent_frame_bytes_(delivery.by_message() ? Length4::kSizeBytes : 0),
      run_(run),
      exchange_(std::move(exchange)),
      deframer_(framing),
      writer_(deframer_.framing(), *exchange_, delivery,
              run.plan().messages_per_connection.value_or(UINT64_MAX)),
      progress_(progress_of(run, channel, delivery.lossy)),
      channel_(std::move(channel)) {
  if (channel_.handover) run_.recorder().taken_over(channel_.handover->in_flight);
}

// The greeting.

void RequestSession::on_open(Time now) {
  greet(now);
  last_message_ = now;
  if (!greets_) ready(now);
}

// Writes the greeting. Over a stream it is written once.
void RequestSession::greet(Time now) {
  if (lossy_ && !greeting_) greeting_.emplace(GreetingTimes{.until = now + kGreetFor});
  if (lossy_) greeting_->next = now + kGreetEvery;
  greets_ = writer_.write_greeting();
}

// Repeats the greeting, but not while the transport has not taken the previous one.
void RequestSession::greet_again(Time now) {
  if (now >= greeting_->until) return fail({Stage::timeout, 0, "the greeting had no answer"}, now);
  if (now < greeting_->next) return;
  if (writer_.outbox().empty())
    greet(now);
  else
    greeting_->next = now + kGreetEvery;
}

void RequestSession::ready(Time now) {
  greeted_ = true;
  if (channel_.handover) return go_on(now);
  if (channel_.opened) {
    if (progress_.rejoin(channel_, now)) conclude(now);
    return fill(now);
  }
  channel_.opened = true;
  fill(now);  // before the count, because the start may follow at once
  run_.opened(now);
}

// The requests.

bool RequestSession::may_send(Time now) const {
  if (!wants_to_send()) return false;
  // Other members may wait for a message, so none is written before it can be sent.
  if (plan().turns && greets_ && progress_.in_advance()) return false;
  return progress_.is_due(now);
}

// `slots_free`: since when, if it was before now.
void RequestSession::fill(Time now, std::optional<Time> slots_free) {
  const std::size_t before = writer_.outbox().size();
  const std::uint64_t first = writer_.requests();
  writer_.write_answer();
  if (held_back_ && writer_.has_room()) progress_.free_slot(true, now);
  while (writer_.has_room() && may_send(now))
    progress_.sent(writer_.write_request(), slots_free.value_or(now), now);
  held_back_ = !writer_.has_room() && wants_to_send();
  const std::uint64_t frames = (writer_.requests() - first) * unsent_frame_bytes_;
  progress_.wrote(writer_.outbox().size() - before - frames, now);
  if (writer_.wrote_too_much()) fail({Stage::local, 0, writer_.complaint()}, now);
}

void RequestSession::next_phases(Time now) {
  // One that was dialled again takes part when its greeting is over: rejoin() then begins its schedule.
  if ((greeted_ || channel_.handover) && progress_.begin()) last_request_ = false;
  progress_.pass_warm_up(now);
  if (progress_.get_ready()) {
    fill(now);
    channel_.settled = true;
    run_.settled(now);
  }
  progress_.pass_window(now);
  if (!progress_.ends_turn()) return;
  last_request(now);
  if (!all_received()) return;
  progress_.rest();
  fill(now);
  run_.rested(now);
}

void RequestSession::last_request(Time now) {
  if (!greeted_ || std::exchange(last_request_, true)) return;
  last_message_ = now;  // from now on the connection waits for messages of other members
  exchange_->on_last_request();
}

// Finishes the connection after an input if no work is left.
void RequestSession::conclude(Time now) {
  advance(now);
  const bool all_sent = progress_.all_sent();
  progress_.stop_waiting(now);
  if (all_sent || (progress_.phase() == Phase::finishing && !progress_.owes())) last_request(now);
  if (finished() || !all_received()) return;
  if (all_sent) {
    progress_.leave_window(now);
    advance(now);
  }
  progress_.finish_if_done(now);
  if (finished() && !failed_ && greeted_ && (!ended_ || ends_by_plan())) writer_.write_last();
}

// The replies.

std::size_t RequestSession::on_bytes(Bytes chunk, Time now) {
  if (writer_.said_last()) return chunk.size();
  advance(now);
  const bool counts = progress_.records(now), by_stream = unsent_frame_bytes_ == 0;
  std::size_t taken = 0;
  while (taken < chunk.size() && !failed_ && (!ended_ || ends_by_plan())) {
    if (outstanding().empty() && !greets_ && !lossy_) {
      refuse({.complaint = "there are bytes that no request asked for",
              .request = replies_,
              .came = chunk.subspan(taken)},
             now);
      break;
    }
    if (greets_ && by_stream && !deframer_.in_message()) {
      const std::size_t known = exchange_->take_known(chunk.subspan(taken));
      if (known > 0) last_message_ = now;
      if ((taken += known) == chunk.size()) break;
    }
    if (std::holds_alternative<Raw>(deframer_.framing())) deframer_.expect(exchange_->reply_size(replies_));
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
  hand_over(now);
  return failed_ || ended_ ? chunk.size() : taken;
}

void RequestSession::check(Bytes message, Time now) {
  last_message_ = now;  // not on single bytes: a peer that sends one now and then would never be given up
  const MessageKind kind = exchange_->classify(replies_, message);
  if (kind == MessageKind::ends) {
    if (ended_) return;  // both sides end it
    fail({Stage::receive, 0, std::string(exchange_->complaint())}, now);
    return writer_.write_refusal();
  }
  const bool is_reply = kind == MessageKind::reply || (kind == MessageKind::last_reply && !greets_);
  const bool fits = is_reply                        ? !outstanding().empty()
                    : kind == MessageKind::greeting ? greets_ && !greeted_
                                                    : kind == MessageKind::other || kind == MessageKind::asks;
  if (!fits) {
    refuse_reply(replies_, message, now);
    if (kind == MessageKind::wrong) writer_.write_refusal();
    return;
  }
  if (kind == MessageKind::asks) return writer_.owe_answer();
  if (is_reply) answered(0, now);
  if (kind == MessageKind::last_reply || ends_by_plan()) ended_ = true;
  if (kind == MessageKind::greeting) ready(now);
  if (greets_ && !greeted_) writer_.write_more_greeting();
}

void RequestSession::check_numbered(Bytes message, Time now) {
  last_message_ = now;
  RequestNumbers& numbers = *outstanding().numbers();
  NumberedMessage reply{.number = 0, .message = message};
  const bool own_numbers = exchange_->carries_numbers();
  if (!own_numbers) {
    const auto numbered = without_number(message);
    if (!numbered) return refuse({.complaint = "a reply has no number", .came = message}, now);
    reply = *numbered;
    if (reply.number != kGreetingNumber && !numbers.place_of(reply.number))
      return count_stray(reply.number, reply.message, now);
  }
  switch (exchange_->classify(reply.number, reply.message)) {
    case MessageKind::wrong:
    case MessageKind::last_reply:  // a message transport has no stream that could end
    case MessageKind::ends:
      return refuse_reply(reply.number, reply.message, now);
    case MessageKind::greeting:
      if (!greets_)
        return refuse({.complaint = exchange_->complaint(), .request = reply.number, .came = reply.message},
                      now);
      if (!greeted_) ready(now);
      return;
    case MessageKind::repeated:
      return run_.recorder().duplicated();
    case MessageKind::other:
    case MessageKind::asks:
      return;
    case MessageKind::reply:
      break;
  }
  const std::uint64_t number = own_numbers ? exchange_->number_of(message) : reply.number;
  if (const auto place = numbers.place_of(number)) return answered(*place, now);
  count_stray(number, reply.message, now);
}

// Counts a reply to a request that is not outstanding.
void RequestSession::count_stray(std::uint64_t number, Bytes came, Time now) {
  if (number >= writer_.requests())
    return refuse({.complaint = "a reply to no request", .request = number, .came = came}, now);
  if (outstanding().numbers()->was_lost(number))
    run_.recorder().late();
  else
    run_.recorder().duplicated();
}

void RequestSession::answered(std::size_t place, Time now) {
  ++replies_;
  progress_.answered(place, held_back_, now);
}

void RequestSession::refuse_reply(std::uint64_t request, Bytes came, Time now) {
  refuse({.complaint = exchange_->complaint(),
          .request = request,
          .expected = outstanding().empty() ? Bytes() : exchange_->expected(request),
          .came = came},
         now);
}

void RequestSession::refuse(WrongReply wrong, Time now) {
  wrong.connection = channel_.number;
  fail({Stage::verify, 0, describe(wrong)}, now);
}

// Deadlines.

std::optional<Time> RequestSession::deadline() const {
  if (finished() || !shows_requests()) return std::nullopt;
  const Phase phase = progress_.phase();
  if (greeted_ && phase == Phase::waiting) return run_.start();  // at once when the start is known
  if (lossy_ && !greeted_) return greeting_->next;
  // Other members may have completed this connection: on_deadline() is then called at once.
  if (waits_for_others())
    return last_request_ && all_received() ? last_message_ : last_message_ + *plan().request_timeout;
  if (phase == Phase::ready && outstanding().empty()) return run_.opens();
  Time due = progress_.deadline();
  const bool has_place = plan().has_schedule()
                             ? writer_.has_room()
                             : held_back_ && writer_.outbox().size() <= RequestWriter::kMostUnsent / 2;
  if (has_place && wants_to_send()) due = std::min(due, progress_.next_due());
  return due == Time::max() ? std::nullopt : std::optional(due);
}

bool RequestSession::is_overdue(Time now) const {
  return !outstanding().empty() && shows_requests() &&
         now >= outstanding().oldest_sent() + *plan().request_timeout;
}

void RequestSession::on_deadline(Time now) {
  advance(now);
  if (lossy_)
    on_lossy_deadline(now);
  else if (is_overdue(now))
    fail({Stage::timeout, 0,
          fmt::format("{} within the request timeout of {}",
                      deframer_.in_message() ? "no whole reply" : "no reply",
                      format_duration(*plan().request_timeout))},
         now);
  else if (waits_for_others() && (!greeted_ || !all_received()) &&
           now >= last_message_ + *plan().request_timeout)
    fail({Stage::timeout, 0,
          fmt::format("nothing came within the request timeout of {}, and not all is there",
                      format_duration(*plan().request_timeout))},
         now);
  fill(now);
  conclude(now);
}

// Gives up requests without a reply, and goes on.
void RequestSession::on_lossy_deadline(Time now) {
  if (!greeted_) return greet_again(now);
  while (is_overdue(now)) progress_.give_up_oldest(held_back_, now);
  if (!waits_for_others() || all_received() || now < last_message_ + *plan().request_timeout) return;
  exchange_->on_silence();
  last_message_ = now;
}

void RequestSession::on_drain(Time now) {
  advance(now);
  run_.stopped(now);
  if (!greeted_ && !channel_.handover) return fail({Stage::receive, ECANCELED, "the greeting"}, now);
  if (!shows_requests() || progress_.phase() == Phase::waiting) {
    writer_.withdraw();
    exchange_->on_withdrawn(outstanding().size());
    progress_.withdraw();
  }
  progress_.drain(now);
  conclude(now);
}

// The end of the connection.

// The end of the stream may be the end of a reply too.
void RequestSession::on_peer_finished(Time now) {
  if (finished()) return;
  const Deframer::Step step = deframer_.end();
  if (step.status == Deframer::Status::malformed)
    return fail({Stage::verify, 0, std::string(deframer_.complaint())}, now);
  if (step.status == Deframer::Status::message) {
    advance(now);
    check(step.message, now);
    conclude(now);
    hand_over(now);
  }
  if (finished()) return;
  const bool is_idle = greeted_ && outstanding().empty() && !last_request_;
  fail({Stage::receive, 0, is_idle ? kClosedIdle : kClosedEarly}, now);
}

void RequestSession::fail(const Failure& failure, Time now) {
  if (failed_) return;
  advance(now);
  if (failed_) return;  // by a request of the next phase
  // Another connection would not correct a wrong reply, nor a request. In the last phase no work is left.
  const bool may_be_corrected = failure.stage != Stage::verify && !writer_.wrote_too_much();
  if (plan().reconnects() && may_be_corrected && progress_.may_go_on()) return leave_channel(failure, now);
  progress_.lose_schedule();
  progress_.finish();
  failed_ = true;
  if (!greeted_ && !channel_.handover) return run_.not_opened(failure, now);
  exchange_->on_failure();
  last_request(now);
  run_.failed(failure);
  progress_.fail(now);
}

// Leaves the channel to the next connection, which joins the load.
void RequestSession::leave_channel(const Failure& failure, Time now) {
  const bool takes_part = greeted_ || channel_.handover;
  failed_ = true;
  channel_.handover.reset();
  if (takes_part) exchange_->on_failure();
  channel_.requests += writer_.requests();
  progress_.leave(channel_, takes_part, now);
  run_.lost(std::move(channel_), failure, now);
}

// Connections that end with a reply: by the server, as that of HTTP with `Connection: close`, or by the plan
// after a number of messages. Nothing is lost with such a connection, so nothing has failed. Another
// connection takes the channel, sends the unanswered requests again, and goes on in the same phase of the
// load.

// Completes each input that may contain a reply.
void RequestSession::hand_over(Time now) {
  if (!ended_ || finished()) return;
  if (progress_.awaits_nothing()) {
    progress_.withdraw();
    return conclude(now);
  }
  channel_.handover = progress_.hand_over(now);
  failed_ = true;  // the connection takes no part any more
  channel_.replied = channel_.ever_replied = true;
  channel_.requests += replies_;
  if (ends_by_plan()) writer_.write_last();
  run_.handed_over(std::move(channel_), now);
}

// Goes on when the connection is open: the requests of the previous connection are sent again, and keep their
// times.
void RequestSession::go_on(Time now) {
  last_message_ = now;
  progress_.go_on(now);
  for (std::size_t i = 0; i < outstanding().size(); ++i) writer_.write_request();
  const std::uint64_t again = writer_.outbox().size();
  advance(now);
  if (progress_.records(now)) run_.recorder().bytes_sent(again);
  fill(now, channel_.handover->ended);
  channel_.handover.reset();
  conclude(now);
}

}  // namespace joust
