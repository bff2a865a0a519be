// SPDX-License-Identifier: MIT
//
// resp: SET and GET in the protocol of Redis and Valkey (docs/resp-protocol.md).
//
//     SET key value --> the store --> +OK         GET key --> the store --> the value, or null
//
// The client knows what it has written, and so which values a GET may return. The server keeps its values in
// memory.
#include "protocols/resp/protocol.hpp"

#include "joust/load_plan.hpp"
#include "protocols/resp/options.hpp"

namespace joust {

Protocol resp_protocol() {
  Protocol protocol;
  protocol.name = "resp";
  protocol.summary = "SET and GET of values in memory, in the protocol of Redis and Valkey";
  protocol.no_messages = "RESP is a protocol of a stream";
  protocol.takes_turns = true;
  protocol.no_reconnect.clear();
  protocol.least_payload = resp::kLeastValue;
  protocol.verified = "value by value, against what was written";
  protocol.verified_by = [](const Parameters& client) -> std::string {
    if (client.option("fill") == "yes") return "value by value, against what was written";
    return "value by value, against what was written; values that the load has not written are not verified";
  };
  protocol.options = resp::options();
  protocol.no_effect = [](const std::string& option, Role /*side*/, const Parameters& client) {
    return resp::no_effect(option, client);
  };
  protocol.payload_unused = [](const Parameters& client) -> std::string {
    return client.option("data-size-range").empty() ? "" : "--data-size-range has the sizes of values";
  };
  protocol.make_server = resp::make_server;
  protocol.make_client = resp::make_client;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan& plan) {
    resp::workload(parameters, plan.connections);
  };
  protocol.check_server = [](const Parameters& parameters) { resp::most_memory(parameters); };
  return protocol;
}

}  // namespace joust
