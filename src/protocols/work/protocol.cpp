// SPDX-License-Identifier: MIT
//
// work: requests that take the server some time, in Protocol Buffers (docs/work-protocol.md).
//
//     request: a job and its workload --> the server works, or sleeps --> response: the job is complete
//
// A message is a length of 4 bytes and a WorkMessage (work.proto). Length and message are sent together, or
// in two writes, like programs that send each part as soon as they have it.
#include "protocols/work/protocol.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/units.hpp"
#include "protocols/work/messages.hpp"
#include "session/option_values.hpp"

namespace joust::work {

std::vector<ProtocolOption> options() {
  return {{.name = "work",
           .summary = "time that a request takes the server, for each unit of its workload: 20us, 5ms",
           .standard = "0",
           .loads = false,
           .in_ceiling = false},
          {.name = "most-work",
           .summary = "the longest time that one request may ask for, up to 10s; others wait meanwhile",
           .standard = "100ms",
           .loads = false,
           .in_ceiling = false},
          {.name = "work-kind",
           .summary = "the server computes for so long (busy), or replies so much later (sleep)",
           .standard = "busy",
           .choices = {"busy", "sleep"},
           .loads = false},
          {.name = "loop-speed",
           .summary = "rounds of the busy loop for a microsecond of work; 0: each server measures it when it "
                      "starts. A race measures it once, so that all its servers do the same",
           .standard = "0",
           .loads = false,
           .in_ceiling = false},
          {.name = "workload",
           .summary = "units of work that each request asks for",
           .standard = "1",
           .serves = false},
          {.name = "writes",
           .summary = "length and message leave in one write, or in two",
           .standard = "one",
           .choices = {"one", "two"}}};
}

namespace {

constexpr std::uint64_t kMostRoundsPerUs = 1'000'000;

Duration time_of(const Parameters& parameters, const std::string& option) {
  const Duration time = duration_of(parameters, option);
  if (time > kMostWork) refuse_option(option, "at most " + format_duration(kMostWork));
  return time;
}

std::uint64_t count_up_to(std::uint64_t most, const Parameters& parameters, const std::string& option) {
  const std::uint64_t count = count_of(parameters, option);
  if (count > most) refuse_option(option, fmt::format("at most {}", most));
  return count;
}

}  // namespace

WorkRules work_rules(const Parameters& parameters) {
  const Duration time = time_of(parameters, "work"), most = time_of(parameters, "most-work");
  if (time > most)
    refuse_option("work",
                  fmt::format("more than one request may ask for, which is {}; --most-work allows more",
                              format_duration(most)));
  if (parameters.option("work-kind") == "sleep" && parameters.option("loop-speed") != "0")
    refuse_option("loop-speed", "with --work-kind sleep there is no busy loop; leave it out");
  return {.time = time,
          .most = most,
          .kind = parameters.option("work-kind") == "sleep" ? Kind::sleep : Kind::busy,
          .rounds_per_us = count_up_to(kMostRoundsPerUs, parameters, "loop-speed")};
}

std::int32_t workload(const Parameters& parameters) {
  return static_cast<std::int32_t>(
      count_up_to(std::numeric_limits<std::int32_t>::max(), parameters, "workload"));
}

Settings repeatable(Settings server, const Parameters& /*client*/) {
  Parameters parameters{.options = server};
  for (const ProtocolOption& option : options()) parameters.options.emplace(option.name, option.standard);
  const WorkRules asked = work_rules(parameters);
  if (!asked.computes() || asked.rounds_per_us != 0) return server;
  static const std::string speed = std::to_string(std::llround(busy_loop_rounds_per_us()));
  server["loop-speed"] = speed;
  return server;
}

bool in_two_writes(const Parameters& parameters) {
  return parameters.option("writes") == "two";
}

}  // namespace joust::work

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
    const work::WorkRules rules = work::work_rules(parameters);
    const bool is_long = rules.computes() && rules.most > std::chrono::milliseconds(1);
    return Demands{.long_work = is_long ? "most-work" : ""};
  };
  protocol.make_server = work::make_server;
  protocol.make_client = work::make_client;
  protocol.check_client = [](const Parameters& parameters, const LoadPlan&) { work::workload(parameters); };
  return protocol;
}

}  // namespace joust
