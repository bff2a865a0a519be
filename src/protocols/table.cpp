// SPDX-License-Identifier: MIT
#include "protocols/table.hpp"

namespace joust {

Protocol broadcast_protocol();
Protocol echo_protocol();
Protocol file_protocol();
Protocol http_protocol();
Protocol resp_protocol();
Protocol script_protocol();
Protocol uppercase_protocol();
Protocol websocket_protocol();
Protocol work_protocol();

std::vector<Protocol> builtin_protocols() {
  return {echo_protocol(), uppercase_protocol(), broadcast_protocol(), file_protocol(),  http_protocol(),
          resp_protocol(), websocket_protocol(), work_protocol(),      script_protocol()};
}

}  // namespace joust
