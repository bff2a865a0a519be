// SPDX-License-Identifier: MIT
#pragma once

#include "joust/protocol.hpp"

namespace joust {

// Returns the default options of a side, and of script a message that both sides know: it has no default.
inline Parameters usual_parameters(const Protocol& protocol, Role side, const Delivery& delivery = {}) {
  Parameters parameters = standard_parameters(protocol, side);
  if (protocol.name != "script") return parameters;
  Settings& options = parameters.options;
  options["send"] = delivery.by_message() ? "{id:u32}{bytes}" : "{size:u32}{bytes}";
  options["reply"] = delivery.by_message() ? "datagram" : "u32";
  options["expect"] = "echo";
  if (delivery.by_message()) options["reply-id"] = "u32";
  return parameters;
}

}  // namespace joust
