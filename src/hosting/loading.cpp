// SPDX-License-Identifier: MIT
#include "hosting/loading.hpp"

#include "hosting/options.hpp"
#include "hosting/timer_slack.hpp"
#include "load/schedule.hpp"
#include "net/target.hpp"
#include "secure/guard.hpp"

namespace joust {

Loading::Loading(const Engine& engine, const Protocol& protocol, const LoadPlan& plan,
                 const Parameters& asking, const Parameters& answering, Tally& tally)
    : engine_(engine),
      run_(plan, engine.delivery.lossy),
      tally_(tally),
      asking_(protocol.make_client(asking, run_)),
      answering_(engine.in_process ? protocol.make_server(answering) : nullptr) {}

// Puts the client's service inside TLS if the plan says so; null if it does not.
std::unique_ptr<Service> Loading::guarded(const Target* target) {
  const LoadPlan& plan = run_.plan();
  if (!plan.tls || target == nullptr) return nullptr;
  if (plan.tls_insecure) tally_.note("TLS: the server's certificate is not verified (--tls-insecure)");
  return inside_tls(*asking_, trust_of(plan, target->name()));
}

void Loading::drive(const EngineOptions& options, const Limits& limits, const Target* target, Stop& stop) {
  run_.recorder().expect_threads(options.threads);
  numbered_ = !engine_.is_for_others(options);
  const LoadPlan& plan = run_.plan();
  Limits own = limits;
  own.idle += longest_gap(plan);
  EngineOptions paced = options;
  paced.paced = plan.open_loop();
  const NoTimerSlack at_once(paced.paced);
  const std::unique_ptr<Service> guard = guarded(target);
  run_.begin(Clock::now());
  engine_.run({.service = guard ? *guard : *asking_,
               .options = paced,
               .limits = own,
               .tally = tally_,
               .target = target,
               .dials = plan.connections,
               .answering = answering_.get()},
              stop);
}

LoadResult Loading::result(const Usage& used, bool interrupted) const {
  LoadResult result = conclude(run_, used, interrupted, Clock::now());
  result.bytes.total_sent = tally_.sent;
  result.bytes.total_received = tally_.received;
  result.notes = tally_.notes();
  result.missing = tally_.missing();
  result.groups = asking_->results();
  if (engine_.delivery.by_message()) result.groups.push_back(tally_.datagrams_group(numbered_));
  return result;
}

}  // namespace joust
