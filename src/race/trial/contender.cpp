// SPDX-License-Identifier: MIT
#include "race/trial/contender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>
#include <utility>

#include "measure/process_tree.hpp"

namespace joust::race {
namespace {

using std::chrono::seconds;

constexpr Duration kMostRestlessness = std::chrono::milliseconds(10);
constexpr Duration kLookAgain = std::chrono::microseconds(100);
constexpr double kQuiet_s = 5e-6;  // CPU time in kLookAgain
constexpr Duration kMostForking = seconds(10);
constexpr Duration kLookForProcesses = std::chrono::milliseconds(20);
constexpr Duration kLongestStop = std::chrono::milliseconds(100);

// Distributes the clock's CPU time. The kernel's ticks separate user from system time well enough over many
// turns; the sum is the clock's.
Usage scaled(const Usage& ticks, double cpu_s) {
  Usage usage = ticks;
  const double all_s = ticks.user_s + ticks.system_s;
  usage.user_s = all_s > 0 ? cpu_s * ticks.user_s / all_s : 0;
  usage.system_s = std::max(0.0, cpu_s - usage.user_s);  // a rounding error may be negative
  return usage;
}

// Takes out the switches of stops: of each stop and continuation, a thread that waits makes two voluntary
// ones.
Usage without_stops(Usage usage, std::uint64_t threads, std::uint64_t stops) {
  const std::uint64_t made = 2 * threads * stops;
  usage.voluntary_switches -= std::min(usage.voluntary_switches, made);
  return usage;
}

// Returns the time that other virtual machines took from the pinned CPUs; nothing if it is not known.
std::optional<double> steal_s(const Surroundings& before, const Surroundings& after) {
  if (!before.pinned || !after.pinned) return std::nullopt;
  return (*after.pinned - *before.pinned).steal_s;
}

// Returns whether connections end within turns, and others take their place.
bool replaces_connections(const TrialOrder& order) {
  constexpr const char* kOption = "requests-per-connection";
  return order.load_case.load.reconnects() || order.entry.server_options.contains(kOption) ||
         order.entry.client_options.contains(kOption);
}

}  // namespace

bool Contender::start() {
  if (!sides_.start_server() || !sides_.start_load() || !connect()) return false;
  if (sides_.order().entry.server_forks) await_processes();
  if (sides_.server().running()) {
    server_clock_ = ProcessClock(sides_.server().child->processes());
    server_at_start_ = usage_of_processes(sides_.server().child->processes());
  }
  client_clock_ = ProcessClock(sides_.load().child->processes());
  threads_at_start_ = read_threads();
  rest();
  return true;
}

bool Contender::connect() {
  const LimitPlan& limits = sides_.setup().scenario.limits;
  const Duration patience =
      limits.trial_timeout.value_or(limits.connect_timeout.value_or(seconds(30)) + seconds(10));
  if (sides_.processes().next_event(sides_.load(), "connected", patience)) return true;
  if (sides_.setup().stop.requested()) return false;
  if (!sides_.load().gone()) return sides_.fail_waiting(sides_.load(), "connect", patience);
  if (!sides_.read_result()) return false;
  const auto& complaints = sides_.trial().load->complaints;
  return sides_.fail(complaints.empty() ? "no connection could be opened" : complaints.front(),
                     sides_.load());
}

// Waits until the server has forked. The clock covers the processes that exist when it is made, and the
// server may have accepted connections before having forked for all of them.
void Contender::await_processes() {
  const Time deadline = Clock::now() + kMostForking;
  const std::size_t connections = sides_.order().load_case.load.connections;
  for (std::size_t before = 0; sides_.server().running() && Clock::now() < deadline;) {
    const std::size_t now = sides_.server().child->processes().size();
    if (now > connections && now == before) return;
    before = now;
    std::this_thread::sleep_for(kLookForProcesses);
  }
}

void Contender::go() {
  for (const Part* part : {&sides_.server(), &sides_.load()})
    if (part->child) part->child->send_all(SIGCONT);
}

// Waits until the processes are idle. Every thread wakes up and goes back to sleep, which takes a server of
// thousands of threads milliseconds. That CPU time belongs to no message. A server that polls never becomes
// idle, and the wait ends at the deadline.
void Contender::become_quiet() {
  const Time deadline = Clock::now() + kMostRestlessness;
  double before_s = server_clock_.read_s() + client_clock_.read_s();
  while (Clock::now() < deadline) {
    std::this_thread::sleep_for(kLookAgain);
    const double now_s = server_clock_.read_s() + client_clock_.read_s();
    if (now_s - before_s < kQuiet_s) return;
    before_s = now_s;
  }
}

// Returns when both processes have stopped: the last steps of a process would take time from the next turn.
void Contender::rest() {
  for (const Part* part : {&sides_.load(), &sides_.server()})
    if (part->child) part->child->stop_all(Clock::now() + kLongestStop);
  server_last_s_ = server_s();
  ++stops_;
}

// Reads the server's CPU time. A foreign server, and an engine that forks for a connection, may have started
// processes since the last reading, and waited for others.
double Contender::server_s() {
  Child* const server = sides_.server().child.get();
  const bool may_start_others =
      sides_.external() || (sides_.order().entry.server_forks && replaces_connections(sides_.order()));
  if (server == nullptr || !may_start_others) return server_clock_.read_s();
  const std::vector<pid_t> processes = server->processes();
  server_clock_ = ProcessClock(processes);
  return server_family_.read_s(processes, server->ended_cpu_s());
}

Contender::Threads Contender::read_threads() {
  const auto of = [](const Part& part) {
    return part.running() ? thread_times(part.child->processes()) : ThreadTimes{};
  };
  return {.server = of(sides_.server()), .client = of(sides_.load())};
}

Contender::Used Contender::used() {
  return {.server_s = server_s(), .client_s = client_clock_.read_s(), .around = read_surroundings(pinned_)};
}

// Returns the longest time of a turn. A message may be the transfer of a file, whose only limit is that bytes
// move.
Duration Contender::longest(TurnSize size) const {
  const LimitPlan& limits = sides_.setup().scenario.limits;
  if (size.messages > 0) return most_time(limits, {.messages = size.messages, .warmup = {}});
  return size.time + limits.request_timeout.value_or(seconds(5)) + seconds(10);
}

std::optional<Turn> Contender::take_turn(TurnSize size, bool recorded) {
  sides_.trial().cpu_s_at_rest += server_s() - server_last_s_;
  go();
  become_quiet();
  const Used before = used();
  const auto us = std::chrono::ceil<std::chrono::microseconds>(size.time).count();
  const auto value = static_cast<int>(size.messages > 0 ? static_cast<std::int64_t>(size.messages) : us);
  sides_.load().child->send(SIGUSR1, recorded ? value : -value);
  const Duration patience = longest(size);
  const auto ended = sides_.processes().next_event(sides_.load(), "turn", patience);
  if (!ended) {
    if (!sides_.setup().stop.requested()) explain(patience);
    return std::nullopt;
  }
  const Used after = used();
  rest();
  server_cpu_s_ += after.server_s - before.server_s;
  client_cpu_s_ += after.client_s - before.client_s;
  note_surroundings(before.around, after.around, sides_.trial());
  const auto ns = [&](const char* key) { return ended->at(key).get<std::int64_t>(); };
  const Counts before_it = std::exchange(counted_, {.verified = ended->at("verified"),
                                                    .beside = ended->at("beside"),
                                                    .failed = ended->at("failed"),
                                                    .latency_sum_ns = ended->at("latency_sum_ns")});
  const std::uint64_t verified = counted_.verified - before_it.verified;
  const Turn turn{.window_s = static_cast<double>(ns("last_ns") - ns("from_ns")) / 1e9,
                  .verified = verified,
                  .latency_sum_ns = counted_.latency_sum_ns - before_it.latency_sum_ns,
                  .failed = counted_.failed - before_it.failed,
                  .messages = verified + counted_.beside - before_it.beside,
                  .turn_s = static_cast<double>(ns("ended_ns") - ns("began_ns")) / 1e9,
                  .server_cpu_s = after.server_s - before.server_s,
                  .client_cpu_s = after.client_s - before.client_s,
                  .steal_s = steal_s(before.around, after.around)};
  sides_.trial().turns_s += turn.turn_s;
  if (recorded) sides_.note_scheduling();
  return turn;
}

void Contender::explain(Duration patience) {
  if (sides_.server().gone()) {
    sides_.fail_without_server();
  } else if (sides_.load().gone() && sides_.read_result() && !sides_.trial().load->complaints.empty()) {
    sides_.fail(sides_.trial().load->complaints.front(), sides_.load());
  } else {
    sides_.fail_waiting(sides_.load(), "end its turn", patience);
  }
}

// Ends both processes. They are killed if they do not end in time, so that a failed contestant takes nothing
// from the others' turns.
Trial Contender::finish() {
  go();
  if (!finish_in_order()) {
    sides_.end();
    for (const Part* part : {&sides_.server(), &sides_.load()})
      if (part->running()) part->child->send_all(SIGKILL);
  }
  if (sides_.setup().stop.requested()) sides_.trial().interrupted = true;
  return std::move(sides_.trial());
}

bool Contender::finish_in_order() {
  if (failed()) return false;
  Part& server = sides_.server();
  std::optional<Usage> server_at_end;
  if (server.running()) server_at_end = usage_of_processes(server.child->processes());
  const Threads at_end = read_threads();
  if (server.running() && sides_.external()) {
    server_s();
    sides_.trial().server.cpu_unknown = server_family_.why_wrong();
    sides_.trial().server.ignores_ends = ignores_ends(server.child->processes());
  }
  sides_.trial().busiest_thread = {
      .server = busiest_share(threads_at_start_.server, at_end.server, server_cpu_s_),
      .client = busiest_share(threads_at_start_.client, at_end.client, client_cpu_s_)};
  sides_.load().child->send(SIGTERM);
  const bool verifies = sides_.order().load_case.turn.unit == TurnUnit::transfers;  // a transfer, at its end
  const Duration patience = sides_.setup().server_stop + (verifies ? longest({.messages = 1}) : Duration{});
  const bool ended =
      sides_.processes().wait_until(Clock::now() + patience, [&] { return sides_.load().gone(); });
  if (sides_.setup().stop.requested()) return false;
  if (!ended) return sides_.fail_waiting(sides_.load(), "end", patience);
  if (!sides_.read_result()) return false;
  // The load cannot read its children's usage at the moment in which a turn begins.
  if (sides_.order().entry.client_forks)
    sides_.trial().load->usage = scaled(sides_.trial().load->usage, client_cpu_s_);
  if (server_at_start_ && server_at_end)
    sides_.trial().server.usage = without_stops(scaled(*server_at_end - *server_at_start_, server_cpu_s_),
                                                at_end.server.size(), stops_);
  return sides_.stop_server();
}

}  // namespace joust::race
