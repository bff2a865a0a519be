// SPDX-License-Identifier: MIT
#include "load/request_service.hpp"

#include "load/request_session.hpp"
#include "session/message_wise.hpp"

namespace joust {

std::unique_ptr<Session> RequestService::open(const ConnectionInfo& info) {
  Seat seat = run_.seats().take();
  try {
    return session_of(seat, info.delivery);
  } catch (...) {  // the engine reports the failure
    if (run_.plan().reconnects() || seat.handover) run_.seats().give_back(std::move(seat));
    throw;
  }
}

// Makes the session. Takes the seat, unless it throws.
std::unique_ptr<Session> RequestService::session_of(Seat& seat, const Delivery& delivery) {
  Parameters parameters = parameters_;
  parameters.connection = seat.number;
  parameters.delivery = delivery;
  const Framing framing = delivery.by_message() ? Length4{delivery.largest_message} : framing_;
  auto session = std::make_unique<RequestSession>(framing, make_(parameters), run_, seat, delivery);
  if (!delivery.by_message()) return session;
  return message_wise(std::move(session), delivery.largest_message);
}

// Takes a failed dial. A connection that was to take over a seat fails before it is open.
void RequestService::not_opened(const Failure& failure, Time now) {
  std::optional<Seat> seat = run_.seats().take_handover();
  if (!seat) return run_.not_opened(failure, now);
  session_of(*seat, {})->on_failure(failure, now);
}

}  // namespace joust
