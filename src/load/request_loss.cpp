// SPDX-License-Identifier: MIT
#include "load/request_session.hpp"

#include <string>

#include "session/numbered.hpp"

// A connection whose requests and replies may be lost, repeated, or arrive in another order. A request
// without a reply is given up after the request timeout, and the connection goes on.
namespace joust {
namespace {

constexpr Duration kGreetEvery = std::chrono::milliseconds(200);
constexpr Duration kGreetFor = std::chrono::seconds(10);

}  // namespace

// Writes the greeting. Over a stream it has no number, and is written once.
bool RequestSession::greet(Time now) {
  if (!lossy_) return write_greeting({});
  if (lossy_->greet_until == Time{}) lossy_->greet_until = now + kGreetFor;
  lossy_->greet_next = now + kGreetEvery;
  const auto number = number_bytes(kGreetingNumber);
  return write_greeting(lossy_->own_numbers ? Bytes() : Bytes(number));
}

bool RequestSession::write_greeting(Bytes head) {
  Writer greeting(framing_, outbox_, head);
  return exchange_->write_greeting(greeting);
}

// Repeats the greeting, but not while the transport has not taken the previous one.
void RequestSession::greet_again(Time now) {
  if (now >= lossy_->greet_until) return fail({Stage::timeout, 0, "the greeting had no answer"}, now);
  if (now < lossy_->greet_next) return;
  if (outbox_.empty())
    greet(now);
  else
    lossy_->greet_next = now + kGreetEvery;
}

void RequestSession::write_numbered(Writer& request) {
  lossy_->outstanding.push(requests_);
  if (lossy_->own_numbers) return exchange_->write_request(requests_, request);
  const auto number = number_bytes(requests_);
  Writer numbered(framing_, outbox_, number);
  exchange_->write_request(requests_, numbered);
}

void RequestSession::check_numbered(Bytes message, Time now) {
  last_message_ = now;
  NumberedMessage reply{.number = 0, .message = message};
  const auto wrong = [&](std::string_view why) {
    refuse({.complaint = why, .request = reply.number, .came = reply.message}, now);
  };
  if (!lossy_->own_numbers) {
    const auto numbered = without_number(message);
    if (!numbered) return wrong("a reply has no number");
    reply = *numbered;
    const bool known = reply.number == kGreetingNumber || lossy_->outstanding.place_of(reply.number);
    if (!known) return is_request(reply.number) ? count_stray(reply.number) : wrong("a reply to no request");
  }
  switch (exchange_->classify(reply.number, reply.message)) {
    case MessageKind::wrong:
    case MessageKind::last_reply:  // a message transport has no stream that could end
      return refuse_reply(reply.number, reply.message, now);
    case MessageKind::greeting:
      if (!greets_) return wrong(exchange_->complaint());
      if (!greeted_) ready(now);
      return;
    case MessageKind::repeated:
      return run_.recorder().duplicated();
    case MessageKind::other:
      return;
    case MessageKind::reply:
      break;
  }
  const std::uint64_t number = lossy_->own_numbers ? exchange_->number_of(message) : reply.number;
  if (const auto place = lossy_->outstanding.place_of(number)) return answered(*place, now);
  return is_request(number) ? count_stray(number) : wrong("a reply to no request");
}

// Counts a reply to a request that is not outstanding.
void RequestSession::count_stray(std::uint64_t number) {
  if (lossy_->outstanding.was_lost(number))
    run_.recorder().late();
  else
    run_.recorder().duplicated();
}

void RequestSession::on_lossy_deadline(Time now) {
  if (!greeted_) return greet_again(now);
  while (!intended_.empty() && !shut() && now >= oldest_sent() + *plan_.request_timeout) lose_oldest(now);
  if (!waits_for_others() || all_received() || now < last_message_ + *plan_.request_timeout) return;
  exchange_->on_silence();
  last_message_ = now;
}

// Gives up the oldest request. A request that was counted as in flight at the end of the window may become
// lost.
void RequestSession::lose_oldest(Time now) {
  free_slot(now);
  lossy_->outstanding.lose_oldest();
  const Time intended = intended_.take(0);
  if (plan_.open_loop()) sent_.take(0);
  if (!is_of_window(intended)) return;
  if (records(now))
    run_.recorder().lost();
  else if (lossy_->in_flight_counted)
    run_.recorder().lost_in_flight();
}

}  // namespace joust
