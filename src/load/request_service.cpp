// SPDX-License-Identifier: MIT
#include "load/request_service.hpp"

#include "load/request_session.hpp"

namespace joust {

std::unique_ptr<Session> RequestService::open(const Opening& opening) {
  Parameters parameters = parameters_;
  parameters.connection = run_.next_connection();
  const Framing framing = opening.delivery.kind == Delivery::Kind::message ? Framing{Raw{}} : framing_;
  return std::make_unique<RequestSession>(framing, make_(parameters), run_, parameters.connection);
}

}  // namespace joust
