// SPDX-License-Identifier: MIT
#include "load/request_service.hpp"

#include "load/request_session.hpp"
#include "session/message_wise.hpp"

namespace joust {

std::unique_ptr<Session> RequestService::open(const Opening& opening) {
  const Seat seat = run_.seats().take();
  try {
    Parameters parameters = parameters_;
    parameters.connection = seat.number;
    parameters.delivery = opening.delivery;
    const Delivery& delivery = opening.delivery;
    const Framing framing = delivery.by_message() ? Length4{delivery.largest_message} : framing_;
    auto session = std::make_unique<RequestSession>(framing, make_(parameters), run_, seat, delivery);
    if (!delivery.by_message()) return session;
    return message_wise(std::move(session), delivery.largest_message);
  } catch (...) {
    if (run_.plan().reconnects()) run_.seats().give_back(seat);  // the engine reports the failure
    throw;
  }
}

}  // namespace joust
