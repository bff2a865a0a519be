// SPDX-License-Identifier: MIT
#include "cli/common/possible_race.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <stdexcept>

#include "cli/common/arguments.hpp"
#include "hosting/mismatch.hpp"
#include "hosting/options.hpp"
#include "joust/load_plan.hpp"
#include "net/socket_options.hpp"

namespace joust {
namespace {

LoadPlan plan_of(const race::LoadPlan& load) {
  LoadPlan plan;
  plan.connections = load.connections;
  plan.messages = load.messages;
  if (load.duration) plan.duration = *load.duration;
  plan.warmup = load.warmup;
  plan.interval = load.interval;
  if (load.open_loop()) plan.rate_per_s = load.rate_per_s.value_or(1);  // not known yet, but there is one
  return plan;
}

Settings settings_of(const race::Settings& given) {
  return {given.begin(), given.end()};
}

void check_client(const Protocol& protocol, const race::Case& one, const race::Entry& entry) {
  if (!protocol.check_client || !entry.is_contestant() || !entry.unavailable.empty()) return;
  const Settings given = settings_of(entry.client_options);
  protocol.check_client(parameters_of(protocol, given, Role::dial), plan_of(one.load));
}

}  // namespace

std::string unmet_demands(const Protocol& protocol, const race::Entry& entry, const race::LoadPlan& load) {
  const Engine* const client = find_engine(entry.contestant.client.engine);
  const Engine* const server = find_engine(entry.contestant.server.engine);  // null: an external command
  std::string reason;
  if (server != nullptr) reason = mismatch(*server, entry.contestant.server.threads, load.connections);
  if (reason.empty() && client != nullptr)
    reason = mismatch(*client, entry.contestant.client.threads, load.connections);
  if (!reason.empty() || !protocol.demands) return reason;
  const LoadPlan plan = plan_of(load);
  const Demands of_client =
      protocol.demands(parameters_of(protocol, settings_of(entry.client_options), Role::dial), &plan);
  if (server != nullptr) {
    reason = server_mismatch(*server, of_client);
    const Parameters serving = parameters_of(protocol, settings_of(entry.server_options), Role::serve);
    if (reason.empty()) reason = mismatch(*server, protocol.demands(serving, nullptr));
  }
  if (reason.empty() && client != nullptr) reason = mismatch(*client, of_client);
  return reason;
}

void ensure_possible(const Program& program, const race::Scenario& scenario, const race::Plan& plan) {
  if (const std::string refused = congestion_refused(scenario.socket.congestion.value_or(""), AF_INET);
      !refused.empty())
    throw UsageError(
        fmt::format("{}: congestion '{}': {}", scenario.file, *scenario.socket.congestion, refused));
  const std::string where = scenario.file.empty() ? "-c" : scenario.file + ": connections (or -c)";
  const std::string swept = scenario.file.empty() ? "--sweep" : scenario.file + ": sweep (or --sweep)";
  for (const race::CaseResult& one : plan.cases) {
    const bool by_sweep = one.plan.point && one.plan.point->axis == "connections";
    ensure_descriptors(by_sweep ? swept : where, one.plan.load.connections);
    const Protocol& protocol = resolve_protocol(program, one.plan.protocol);
    for (const race::Entry& entry : one.entries) check_client(protocol, one.plan, entry);
  }
}

void require_contestant(const race::Plan& plan) {
  std::string reasons;
  for (const race::Entry& entry : plan.cases.front().entries) {
    if (entry.is_contestant() && entry.unavailable.empty()) return;
    if (entry.is_contestant()) reasons += fmt::format("\n  {}: {}", entry.contestant.name, entry.unavailable);
  }
  throw std::runtime_error("no contestant can run here:" + reasons);
}

}  // namespace joust
