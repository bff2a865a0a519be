// SPDX-License-Identifier: MIT
//
// work: requests that take the server some time, in Protocol Buffers (docs/work-protocol.md).
//
//     request: a job and its workload --> the server works, or sleeps --> response: the job is complete
//
// A message is a length of 4 bytes and a WorkMessage (work.proto). Length and message are sent together, or
// in two writes, like programs that send each part as soon as they have it.
#include "protocols/work/protocol.hpp"

#include "protocols/work/messages.hpp"
#include "protocols/work/options.hpp"

namespace joust {

Protocol work_protocol() {
  Protocol protocol;
  protocol.name = "work";
  protocol.summary = "requests that take the server some time, in Protocol Buffers";
  protocol.sessions_stand_alone = true;
  protocol.takes_turns = true;
  protocol.no_reconnect.clear();
  protocol.no_payload = "a request has no payload; what it asks for is its workload (--workload)";
  protocol.verified = "by job and completion";
  protocol.options = work::options();
  protocol.repeatable = work::repeatable;
  protocol.demands = [](const Parameters& parameters, const LoadPlan* plan) {
    if (plan != nullptr) return Demands{};
    const work::Labour labour = work::labour(parameters);
    const bool is_long = labour.computes() && labour.most > std::chrono::milliseconds(1);
    return Demands{.long_work = is_long ? "most-work" : ""};
  };
  protocol.make_server = work::make_server;
  protocol.make_client = work::make_client;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan&) { work::workload(parameters); };
  return protocol;
}

}  // namespace joust
