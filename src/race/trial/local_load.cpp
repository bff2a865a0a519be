// SPDX-License-Identifier: MIT
#include <csignal>
#include <utility>

#include "measure/process_tree.hpp"
#include "race/trial/child_json.hpp"
#include "race/trial/local_sides.hpp"
#include "race/trial/quiet.hpp"

namespace joust::race {
namespace {

constexpr Duration kLongestStopOfLoad = std::chrono::milliseconds(100);

}  // namespace

Step<> LocalLoad::start(const std::string& address) {
  if (auto started = process_.start(order_.command, address); !started) return started;
  if (!processes_.next_event(part(), "connected", order_.time_to_connect))
    return std::unexpected(explain("connect", order_.time_to_connect));
  const std::vector<pid_t> processes = part().child->processes();
  clock_ = ProcessClock(processes);
  if (part().running()) threads_at_start_ = thread_times(processes);
  part().child->stop_all(Clock::now() + kLongestStopOfLoad);
  return {};
}

// Describes a failure to do something in this time. The complaint of a load that has ended tells more.
SideFailure LocalLoad::explain(const std::string& what, Duration patience) const {
  if (processes_.interrupted() || !part().gone()) return late_failure(part(), what, patience);
  auto document = process_.document();
  if (!document) return std::move(document.error());
  Trial trial;
  if (const auto wrong = read_load(*document, trial)) return failure_of(part(), *wrong);
  const std::vector<std::string>& complaints = trial.load->messages_of_errors;
  SideFailure failure =
      complaints.empty() ? late_failure(part(), what, patience) : failure_of(part(), complaints.front());
  failure.document = std::move(*document);
  return failure;
}

Step<> LocalLoad::wake() {
  part().child->send_all(SIGCONT);
  quiet_reading_s(clock_);
  return {};
}

Step<LoadTurn> LocalLoad::take_turn(TurnSize size, bool recorded) {
  const bool counted = size.messages > 0;
  const Duration patience = counted ? order_.time_of_counted_turn : size.time + order_.time_beyond_turn;
  const auto us = std::chrono::ceil<std::chrono::microseconds>(size.time).count();
  const auto value = static_cast<int>(counted ? static_cast<std::int64_t>(size.messages) : us);
  const double before_s = clock_.read_s();
  if (order_.watched) around_ = read_surroundings(*order_.watched);
  part().child->send(SIGUSR1, recorded ? value : -value);
  const auto ended = processes_.next_event(part(), "turn", patience);
  if (!ended) return std::unexpected(explain("end its turn", patience));
  turn_s_ = clock_.read_s() - before_s;
  end_.cpu_s += turn_s_;
  const auto ns = [&](const char* key) { return ended->at(key).get<std::int64_t>(); };
  const Counts before = std::exchange(counted_, {.verified = ended->at("verified"),
                                                 .beside = ended->at("beside"),
                                                 .failed = ended->at("failed"),
                                                 .latency_sum_ns = ended->at("latency_sum_ns")});
  const std::uint64_t verified = counted_.verified - before.verified;
  return LoadTurn{.window_s = static_cast<double>(ns("last_ns") - ns("from_ns")) / 1e9,
                  .turn_s = static_cast<double>(ns("ended_ns") - ns("began_ns")) / 1e9,
                  .verified = verified,
                  .messages = verified + counted_.beside - before.beside,
                  .failed = counted_.failed - before.failed,
                  .latency_sum_ns = counted_.latency_sum_ns - before.latency_sum_ns,
                  .began_ns = ns("began_ns")};
}

Step<SideTurn> LocalLoad::rest() {
  SideTurn turn{.cpu_s = turn_s_};
  if (around_) turn.around = window_of(*around_, read_surroundings(*order_.watched));
  part().child->stop_all(Clock::now() + kLongestStopOfLoad);
  return turn;
}

Step<LoadEnd> LocalLoad::finish() {
  part().child->send_all(SIGCONT);
  if (part().running()) {
    const std::vector<pid_t> processes = part().child->processes();
    end_.busiest_thread = busiest_share(threads_at_start_, thread_times(processes), end_.cpu_s);
    if (order_.shows_scheduling) end_.scheduling = thread_groups(processes);
  }
  part().child->send(SIGTERM);
  if (!processes_.wait_until(Clock::now() + order_.time_to_stop, [&] { return part().gone(); }))
    return std::unexpected(late_failure(part(), "end", order_.time_to_stop));
  auto document = process_.document();
  if (!document) return std::unexpected(std::move(document.error()));
  end_.document = std::move(*document);
  return std::move(end_);
}

void LocalLoad::end() {
  processes_.end(order_.time_to_stop);
}

}  // namespace joust::race
