// SPDX-License-Identifier: MIT
#include <algorithm>
#include <csignal>
#include <thread>

#include "measure/process_tree.hpp"
#include "race/trial/local_sides.hpp"
#include "race/trial/quiet.hpp"

namespace joust::race {
namespace {

constexpr Duration kMostForking = std::chrono::seconds(10);
constexpr Duration kLookForProcesses = std::chrono::milliseconds(20);
constexpr Duration kLongestStop = std::chrono::milliseconds(100);

// Takes out the switches of stops: of each stop and continuation, a thread that waits makes two voluntary
// ones.
Usage without_stops(Usage usage, std::uint64_t threads, std::uint64_t stops) {
  const std::uint64_t made = 2 * threads * stops;
  usage.voluntary_switches -= std::min(usage.voluntary_switches, made);
  return usage;
}

}  // namespace

Step<ServerStart> LocalServer::start() {
  if (auto started = process_.start(); !started) return std::unexpected(std::move(started.error()));
  return ServerStart{.address = process_.address(), .result = process_.result()};
}

// Waits until the server has forked. The clock covers the processes that exist when it is made, and the
// server may have accepted connections before having forked for all of them.
void LocalServer::await_processes() {
  const Time deadline = Clock::now() + kMostForking;
  for (std::size_t before = 0; part().running() && Clock::now() < deadline;) {
    const std::size_t now = part().child->processes().size();
    if (now > order_.forks_for && now == before) return;
    before = now;
    std::this_thread::sleep_for(kLookForProcesses);
  }
}

Step<> LocalServer::settle() {
  if (order_.forks_for > 0) await_processes();
  if (part().running()) {
    const std::vector<pid_t> processes = part().child->processes();
    clock_ = ProcessClock(processes);
    at_start_ = usage_of_processes(processes);
    threads_at_start_ = thread_times(processes);
  }
  auto rested = rest();
  if (!rested) return std::unexpected(std::move(rested.error()));
  end_.cpu_s = 0;
  return {};
}

// Reads the CPU time. A server may have started processes since the last reading, and waited for others.
double LocalServer::read_s() {
  if (!part().child || !order_.may_start_others) return clock_.read_s();
  const std::vector<pid_t> processes = part().child->processes();
  clock_ = ProcessClock(processes);
  return family_.read_s(processes, part().child->ended_cpu_s());
}

Step<double> LocalServer::wake(TurnSize /*turn*/) {
  const double used_s = read_s() - at_rest_s_;
  if (part().child) {
    part().child->send_all(SIGCONT);
    quiet_reading_s(clock_);
  }
  awake_s_ = read_s();
  if (order_.watched) around_ = read_surroundings(*order_.watched);
  return used_s;
}

// Returns when all processes have stopped: the last steps of a process would take time from the next turn.
Step<SideTurn> LocalServer::rest() {
  if (part().gone()) return std::unexpected(process_.early_end());
  SideTurn turn{.cpu_s = read_s() - awake_s_};
  if (around_) turn.around = window_of(*around_, read_surroundings(*order_.watched));
  if (part().child) part().child->stop_all(Clock::now() + kLongestStop);
  end_.cpu_s += turn.cpu_s;
  at_rest_s_ = read_s();
  ++stops_;
  return turn;
}

Step<> LocalServer::sum_up() {
  if (!part().child) return {};
  part().child->send_all(SIGCONT);
  if (!part().running()) return {};
  const std::vector<pid_t> processes = part().child->processes();
  const std::optional<Usage> at_end = usage_of_processes(processes);
  const ThreadTimes threads = thread_times(processes);
  ServerResult& result = process_.result();
  if (process_.foreign()) {
    read_s();
    result.cpu_unknown = family_.why_wrong();
    result.ignores_ends = ignores_ends(processes);
  }
  end_.busiest_thread = busiest_share(threads_at_start_, threads, end_.cpu_s);
  if (order_.shows_scheduling) end_.scheduling = thread_groups(processes);
  if (at_start_ && at_end)
    result.usage = without_stops(scaled(*at_end - *at_start_, end_.cpu_s), threads.size(), stops_);
  return {};
}

Step<ServerEnd> LocalServer::finish() {
  if (auto stopped = process_.stop(); !stopped) return std::unexpected(std::move(stopped.error()));
  end_.result = std::move(process_.result());
  return std::move(end_);
}

void LocalServer::end() {
  processes_.end(order_.time_to_stop);
}

}  // namespace joust::race
