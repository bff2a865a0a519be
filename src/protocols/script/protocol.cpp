// SPDX-License-Identifier: MIT
//
// script: messages of anybody's protocol, from templates (docs/script-protocol.md).
//
//     a template with placeholders --> the server; a frame says where its reply ends, an expectation what is
//     right
//
// So a server of somebody else is a contestant without a line of code. The other side answers from the same
// script, so every engine serves these messages too.
#include "protocols/script/protocol.hpp"

#include "protocols/script/script.hpp"

namespace joust {

Protocol script_protocol() {
  Protocol protocol;
  protocol.name = "script";
  protocol.summary = "messages of anybody's protocol, from templates";
  protocol.sessions_stand_alone = true;
  protocol.takes_turns = true;
  protocol.largest_payload = 60'000;  // of {bytes}: a server of joust takes requests of 64 KiB
  protocol.payload_unused = [](const Parameters& client) -> std::string {
    if (script::script_of(client)->uses_payload()) return {};
    return "no message of the script has {bytes} or {binary}, whose size it is";
  };
  protocol.no_reconnect.clear();
  protocol.doubt = "does the server speak as the script says?";
  protocol.verified_by = [](const Parameters& client) {
    return script::script_of(client)->checks_all() ? std::string("by what the script expects")
                                                   : std::string();
  };
  protocol.no_ceiling = [](const Parameters& server, const Parameters& /*client*/) -> std::string {
    const std::string reason = script::why_no_answers(*script::script_of(server));
    return reason.empty() ? "" : "of this script there is no server of joust: " + reason;
  };
  protocol.demands = [](const Parameters& parameters, const LoadPlan*) {
    const bool is_datagram = !script::script_of(parameters)->frame.cutter;
    return Demands{
        .stream = is_datagram ? "" : "its frame cuts a stream: over messages it is --reply datagram",
        .messages = is_datagram ? "--reply datagram needs an engine over UDP" : ""};
  };
  protocol.options = script::options();
  protocol.make_server = script::make_server;
  protocol.make_client = script::make_client;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan& plan) {
    script::check_client(*script::script_of(parameters), plan);
  };
  protocol.check_server = [](const Parameters& parameters) {
    script::check_server(*script::script_of(parameters));
  };
  return protocol;
}

}  // namespace joust
