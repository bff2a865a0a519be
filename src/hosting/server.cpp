// SPDX-License-Identifier: MIT
#include "joust/server.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/signals.hpp"
#include "connection/tally.hpp"
#include "hosting/accounting.hpp"
#include "hosting/options.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"

namespace joust {
struct Server::State {
  enum class Phase : std::uint8_t { ready, serving, over };

  State(Protocol&& spoken, ServerOptions&& wanted);
  void begin();                         // under the mutex
  std::exception_ptr serve() noexcept;  // returns the engine's exception
  void end(const std::exception_ptr& thrown);
  void drain() noexcept;
  void wait();

  const Protocol protocol;
  const ServerOptions options;
  const Engine& engine;
  const EngineOptions engine_options;
  std::unique_ptr<Service> service;
  Tally tally;
  std::optional<Listeners> listeners;
  Stop stop;
  std::atomic<bool> drained{false};

  mutable std::mutex mutex;
  std::condition_variable ended;
  Phase phase = Phase::ready;  // this and the following members: under the mutex
  std::exception_ptr failure;
  std::thread thread;
};

Server::State::State(Protocol&& spoken, ServerOptions&& wanted)
    : protocol(std::move(spoken)),
      options(std::move(wanted)),
      engine(checked_engine(options.engine, options.knobs, Role::serve, protocol)),
      engine_options(joust::engine_options(engine, options.threads, options.wait, options.knobs)) {
  check_threads(engine, options.threads);
  check_between("--max-connections", options.limits.connections, 1, 1'000'000);
  check_options(protocol, options.options, true, false);
  Parameters parameters = parameters_of(protocol, options.options, Role::serve);
  check_demands(engine, protocol, parameters, nullptr);
  if (options.is_public) check_long_work(engine, protocol, parameters, options.options);
  if (protocol.check_server) protocol.check_server(parameters);
  const std::vector<Endpoint> endpoints =
      checked_listen(options.listen, options.is_public, engine, engine_options.knobs);
  parameters.on_loopback = std::ranges::all_of(endpoints, is_local);
  service = protocol.make_server(parameters);
  SocketOptions socket = options.socket;
  const bool chosen = socket.congestion != SocketOptions{}.congestion;
  for (const Endpoint& endpoint : endpoints) settle_socket(socket, chosen, endpoint, engine.transport, tally);
  listeners.emplace(endpoints, socket, engine.transport);
  for (const std::string& address : listeners->left_out()) tally.note("not listening on " + address);
}

void Server::State::begin() {
  if (phase != Phase::ready) throw std::logic_error("a joust::Server serves once");
  phase = Phase::serving;
}

std::exception_ptr Server::State::serve() noexcept {
  try {
    Accounting accounting(engine, engine_options.threads, options.limits, tally);
    engine.run({.service = *service,
                .options = engine_options,
                .limits = options.limits,
                .tally = tally,
                .listeners = listeners->all(),
                .account = accounting.account(),
                .chore = accounting.chore()},
               stop);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

void Server::State::end(const std::exception_ptr& thrown) {
  const std::lock_guard lock(mutex);
  failure = thrown;
  phase = Phase::over;
  ended.notify_all();
}

// Requests the stop once: a second request would end the engine at once.
void Server::State::drain() noexcept {
  if (!drained.exchange(true)) stop.request();
}

// Waits until serving has ended.
void Server::State::wait() {
  std::unique_lock lock(mutex);
  ended.wait(lock, [this] { return phase != Phase::serving; });
  std::thread done = std::exchange(thread, {});
  const std::exception_ptr thrown = std::exchange(failure, nullptr);
  lock.unlock();
  if (done.joinable()) done.join();
  if (thrown) std::rethrow_exception(thrown);
}

Server::Server(Protocol protocol, ServerOptions options)
    : state_(std::make_unique<State>(std::move(protocol), std::move(options))) {}

Server::~Server() {
  try {
    stop_now();
  } catch (const std::exception&) {  // the engine's exception; no caller is left that could handle it
  }
}

std::string Server::address() const {
  return state_->listeners->addresses().front();
}

std::vector<std::string> Server::addresses() const {
  return state_->listeners->addresses();
}

void Server::run(std::stop_token stop) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->begin();
  }
  std::exception_ptr thrown;
  {
    const std::stop_callback asked(stop, [this] { state_->drain(); });
    thrown = state_->serve();
  }
  state_->end(nullptr);
  if (thrown) std::rethrow_exception(thrown);
}

void Server::start() {
  const std::lock_guard lock(state_->mutex);
  state_->begin();
  try {
    const SignalsBlocked blocked;
    state_->thread = std::thread([state = state_.get()] { state->end(state->serve()); });
  } catch (...) {
    state_->phase = State::Phase::ready;
    throw;
  }
}

void Server::request_stop() noexcept {
  state_->drain();
}

void Server::stop() {
  state_->drain();
  state_->wait();
}

void Server::stop_now() {
  while (!state_->stop.at_once()) state_->stop.request();
  state_->wait();
}

ServerStatistics Server::statistics() const {
  const Tally& tally = state_->tally;
  ServerStatistics statistics{.connections_opened = tally.opened,
                              .bytes_received = tally.received,
                              .bytes_sent = tally.sent,
                              .complaints = tally.complaints(),
                              .notes = tally.notes()};
  for (std::size_t stage = 0; stage < kStages; ++stage)
    statistics.failures[stage] = tally.failures(static_cast<Stage>(stage));
  const std::lock_guard lock(state_->mutex);
  if (state_->phase == State::Phase::over) statistics.groups = state_->service->results();
  if (state_->engine.delivery.by_message()) statistics.groups.push_back(tally.datagrams_group());
  return statistics;
}

}  // namespace joust
