// SPDX-License-Identifier: MIT
#include "load/request_service.hpp"

#include "load/request_session.hpp"

namespace joust {

std::unique_ptr<Session> RequestService::open(const Opening& opening) {
  const Seat seat = run_.seats().take();
  try {
    Parameters parameters = parameters_;
    parameters.connection = seat.number;
    const Framing framing = opening.delivery.kind == Delivery::Kind::message ? Framing{Raw{}} : framing_;
    return std::make_unique<RequestSession>(framing, make_(parameters), run_, seat);
  } catch (...) {
    if (run_.plan().reconnects()) run_.seats().give_back(seat);  // the engine reports the failure
    throw;
  }
}

}  // namespace joust
