// SPDX-License-Identifier: MIT
#include "joust/client.hpp"

#include <algorithm>
#include <utility>

#include "hosting/loading.hpp"
#include "hosting/options.hpp"
#include "net/stop.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

std::optional<Duration> percentile(const Distribution& latencies, double quantile) {
  const auto value = latencies.percentile(quantile);
  return value ? std::optional(Duration(*value)) : std::nullopt;
}

Latencies latencies_of(const Distribution& all) {
  return {.min = Duration(all.min()),
          .mean = Duration(static_cast<Duration::rep>(all.mean())),
          .max = Duration(all.max()),
          .p50 = percentile(all, 0.5),
          .p90 = percentile(all, 0.9),
          .p99 = percentile(all, 0.99),
          .p99_9 = percentile(all, 0.999)};
}

Duration length_of(const LoadResult& load) {
  return load.window_ns ? load.window_ns->to - load.window_ns->from : Duration{};
}

// Returns whether the sessions take part in the run of a load. Client sessions of a program's own do not.
bool takes_part(const LoadRun& run, const LoadResult& load) {
  return run.connections_opened() > 0 || std::ranges::any_of(load.errors, [](auto n) { return n > 0; });
}

// Combines the results. The run has the counts of its own sessions, the engine's tally those of other
// sessions.
ClientResult result_of(const LoadRun& run, const LoadResult& load, const Tally& tally) {
  const bool measured = takes_part(run, load);
  ClientResult result{.connections_opened = tally.opened,
                      .connections_failed = measured ? load.connections.failed : tally.failures(),
                      .reconnects = load.reconnects,
                      .handovers = load.handovers,
                      .messages_sent = load.messages.sent,
                      .messages_verified = load.messages.verified,
                      .messages_failed = load.messages.failed,
                      .messages_lost = load.messages.lost.value_or(0),
                      .messages_in_flight = load.messages.in_flight,
                      .bytes_sent = load.bytes.total_sent,
                      .bytes_received = load.bytes.total_received,
                      .window = length_of(load),
                      .messages_per_s = load.throughput_per_s,
                      .latencies = latencies_of(load.latency_ns),
                      .uncorrected = latencies_of(load.uncorrected_latency()),
                      .interrupted = load.interrupted,
                      .failures = load.errors,
                      .complaints = measured ? load.messages_of_errors : tally.complaints(),
                      .notes = load.notes,
                      .groups = load.groups};
  for (std::size_t stage = 0; !measured && stage < kStages; ++stage)
    result.failures[stage] = tally.failures(static_cast<Stage>(stage));
  return result;
}

void check_plan(const LoadPlan& plan, const Engine& engine, unsigned threads) {
  check_load(plan);
  check_threads(engine, threads);
  check_connections(engine, threads, plan.connections);
}

}  // namespace

struct Client::State {
  State(Protocol&& spoken, ClientOptions&& wanted);

  const Protocol protocol;
  const ClientOptions options;
  const Engine& engine;
  const EngineOptions engine_options;
  Parameters asking, answering;
  std::vector<std::string> notes;  // notes on the socket options
  std::optional<Target> target;
};

Client::State::State(Protocol&& spoken, ClientOptions&& wanted)
    : protocol(std::move(spoken)),
      options(std::move(wanted)),
      engine(checked_engine(options.engine, options.knobs, Role::dial, protocol)),
      engine_options(joust::engine_options(engine, options.threads, options.wait, options.knobs)) {
  check_plan(options.load, engine, options.threads);
  const std::size_t payload = options.load.payload.value_or(Parameters{}.payload);
  check_payload(engine, protocol, payload);
  check_options(protocol, options.options, engine.in_process, true);
  asking = parameters_of(protocol, options.options, Role::dial);
  asking.payload = payload;
  check_effects(protocol, options.options, asking, engine.in_process);
  if (const std::string unused = payload_unused(protocol, asking); !unused.empty() && options.load.payload)
    throw std::invalid_argument("--payload has no effect: " + unused);
  check_demands(engine, protocol, asking, &options.load);
  check_reconnect(options.load, engine, protocol);
  check_tls(options.load, engine, options.connect);
  if (engine.in_process) answering = parameters_of(protocol, options.options, Role::serve);
  check_connect(options.connect, engine);
  if (engine.in_process) return;
  std::vector<Endpoint> endpoints =
      resolved_target(options.connect, options.limits.resolve, engine, engine_options.knobs);
  Tally tally;
  SocketOptions socket = options.socket;
  const bool chosen = socket.congestion != SocketOptions{}.congestion;
  settle_socket(socket, chosen, endpoints.front(), engine.transport, tally);
  notes = tally.notes();
  target.emplace(options.connect, std::move(endpoints), socket, engine.transport);
}

Client::Client(Protocol protocol, ClientOptions options)
    : state_(std::make_unique<State>(std::move(protocol), std::move(options))) {}

Client::~Client() = default;

ClientResult Client::run(std::stop_token stop) {
  const State& client = *state_;
  Tally tally;
  for (const std::string& note : client.notes) tally.note(note);
  Loading loading(client.engine, client.protocol, client.options.load, client.asking, client.answering,
                  tally);
  Stop end;
  {
    const std::stop_callback asked(stop, [&end] { end.request(); });
    loading.drive(client.engine_options, client.options.limits, client.target ? &*client.target : nullptr,
                  end);
  }
  return result_of(loading.run(), loading.result({}, end.requested()), tally);
}

}  // namespace joust
