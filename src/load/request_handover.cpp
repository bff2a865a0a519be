// SPDX-License-Identifier: MIT
#include "load/request_session.hpp"

#include <utility>

// The handling of connections that the server ends with a reply, such as that of HTTP with `Connection:
// close`. Nothing is lost with such a connection, so nothing has failed. Another connection takes the
// channel, sends the unanswered requests again, and goes on in the same phase of the load.
namespace joust {

// Completes each input that may contain a reply.
void RequestSession::conclude_last(Time now) {
  if (!ended_ || finished_) return;
  if (!awaits_nothing()) return hand_over(now);
  forget_requests();
  conclude(now);
}

// Returns true if the missing replies do not count any more: they have been counted as in flight.
bool RequestSession::awaits_nothing() const {
  return phase_ == Phase::finishing && (cut_off_ || !plan_.open_loop());
}

void RequestSession::hand_over(Time now) {
  const std::uint64_t in_flight = records(now) ? in_flight_of_window() : 0;
  auto handover = std::make_unique<Handover>(schedule_);
  run_.recorder().handed_over(in_flight);
  handover->in_flight = in_flight;
  handover->progress = std::exchange(static_cast<Progress&>(*this), {.phase_ = Phase::finishing});
  handover->sent = std::exchange(sent_, {});
  failed_ = finished_ = true;  // the connection takes no part any more
  channel_.handover = std::move(handover);
  channel_.replied = channel_.ever_replied = true;
  run_.handed_over(std::move(channel_), now);
}

// Takes over the requests before the connection is open, so that a failure to open it counts as a failure of
// a connection with these requests.
void RequestSession::take_over(Handover& handover) {
  static_cast<Progress&>(*this) = std::move(handover.progress);
  schedule_ = handover.schedule;
  sent_ = std::move(handover.sent);
  greeted_ = true;
  run_.recorder().taken_over(handover.in_flight);
}

// Goes on when the connection is open: the requests of the previous connection are sent again, and keep their
// times.
void RequestSession::go_on(Time now) {
  last_message_ = slot_free_ = now;
  Writer request(framing_, outbox_);
  for (std::size_t i = 0; i < intended_.size(); ++i) exchange_->write_request(requests_++, request);
  const std::uint64_t again = outbox_.size();
  advance(now);
  if (records(now)) run_.recorder().bytes_sent(again);
  fill(now);
  conclude(now);
}

}  // namespace joust
