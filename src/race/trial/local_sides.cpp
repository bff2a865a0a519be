// SPDX-License-Identifier: MIT
#include "race/trial/local_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "measure/processes.hpp"
#include "race/trial/child.hpp"
#include "race/trial/external.hpp"
#include "race/trial/surroundings.hpp"

namespace joust::race {
namespace {

// The exit code with which `joust serve` and `joust load` refuse their arguments.
constexpr int kUsageExit = 2;

// The exit code of a shell that does not find the program, and of the dynamic linker.
constexpr int kNotFound = 127;

}  // namespace

using nlohmann::json;

SideFailure failure_of(const Part& part, std::string what) {
  SideFailure failure{.what = std::move(what)};
  if (!part.child) return failure;
  failure.last_words = part.child->last_words();
  failure.refused = !part.child->foreign() && part.child->exit_code() == kUsageExit;
  return failure;
}

SideFailure late_failure(const Part& part, const std::string& what, Duration patience,
                         const std::string& hint) {
  if (part.child->foreign() && part.child->exit_code() == kNotFound) {
    SideFailure failure = failure_of(
        part,
        fmt::format("the command, or a library that it needs, was not found (exit code {})", kNotFound));
    failure.not_found = true;
    return failure;
  }
  if (part.child->ended())
    return failure_of(
        part, fmt::format("{} ended before it could {}: {}", part.name, what, part.child->how_it_ended()));
  return failure_of(
      part, fmt::format("{} did not {} within {}{}", part.name, what, format_duration(patience), hint));
}

std::string event_name(const json& said) {
  if (!said.is_object()) return {};
  const auto event = said.find("event");
  return event != said.end() && event->is_string() ? event->get<std::string>() : std::string();
}

std::vector<Child*> TrialProcesses::children() const {
  std::vector<Child*> both;
  for (const Part* part : {&server, &load})
    if (part->child) both.push_back(part->child.get());
  return both;
}

Step<> TrialProcesses::start(Part& part, const ChildCommand& command) const {
  const auto attach = [&](pid_t child) {
    if (!count_calls_) return;
    auto counter = SyscallCounter::attach(child);
    if (counter)
      part.calls = std::move(*counter);
    else
      part.no_calls = counter.error();
  };
  try {
    part.child = std::make_unique<Child>(command, attach);
    return {};
  } catch (const std::system_error& error) {
    return std::unexpected(failure_of(part, fmt::format("{} could not be started: {}{}", part.name,
                                                        error.what(), limit_behind(error.code().value()))));
  }
}

bool TrialProcesses::wait_until(Time deadline, const std::function<bool()>& done) const {
  const std::vector<Child*> both = children();
  while (!done()) {
    if (stop_.requested() || Clock::now() >= deadline) return false;
    Child::wait_any(both, stop_.fd(), deadline);
  }
  return true;
}

void TrialProcesses::end(Duration patience) const {
  const std::vector<Child*> both = children();
  const Time deadline = Clock::now() + patience;
  for (Child* child : both)
    if (!child->ended())
      for (const int number : {SIGCONT, SIGTERM}) child->send_all(number);
  const auto running = [](const Child* child) { return !child->ended(); };
  while (std::ranges::any_of(both, running) && !stop_.at_once() && Clock::now() < deadline)
    Child::wait_any(both, -1, deadline);
  for (Child* child : both)
    if (!child->ended()) child->send_all(SIGKILL);
}

std::optional<json> TrialProcesses::next_event(Part& part, std::string_view name, Duration patience) const {
  std::optional<json> event;
  wait_until(Clock::now() + patience, [&] {
    while (!event) {
      const auto line = part.child->take_line();
      if (!line) break;
      json said = json::parse(*line, nullptr, false);
      if (event_name(said) == name) event = std::move(said);
    }
    return event || part.child->ended();
  });
  return event;
}

std::string LoadProcess::path() const {
  return processes_.load.folder->path() + "/result.json";
}

Step<> LoadProcess::start(ChildCommand command, const std::string& address) {
  processes_.load.folder.emplace();
  if (!address.empty()) command.words.insert(command.words.end(), {"--connect", address});
  command.words.insert(command.words.end(), {"--json", path()});
  return processes_.start(processes_.load, command);
}

Step<std::string> LoadProcess::document() const {
  std::ostringstream text;
  text << std::ifstream(path()).rdbuf();
  const Child& child = *processes_.load.child;
  if (child.exit_code() >= 0 && !text.str().empty()) return text.str();
  const std::vector<std::string> said = child.last_words();
  return std::unexpected(
      failure_of(processes_.load, fmt::format("the load has no result: {}{}", child.how_it_ended(),
                                              said.empty() ? "" : ": " + said.back())));
}

namespace {

using nlohmann::json;

// The end of a message about a server that did not start in time.
constexpr const char* kAllowsMore = " (--ready-timeout allows more)";

// Returns where a foreign server listens in place of the address that the load connects to, and where it
// would have found its port.
std::string listens_elsewhere(Child& server, const CommandValues& values) {
  const std::vector<std::string> addresses = listening_addresses(server.processes()).addresses;
  if (addresses.empty()) return "";
  return fmt::format("; it listens on {}, and its port is given by {{port}}, or else by the variable PORT{}",
                     join(addresses),
                     values.address == CommandValues().address ? "" : ", and its address by {address}");
}

// Returns a hint at why a foreign server has not printed its line.
std::string why_silent(const Child& server) {
  if (!server.last_words().empty()) return "";
  return "; it has printed nothing, and many programs print into a pipe only when they flush (stdbuf -oL, "
         "python3 -u)";
}

}  // namespace

Step<> ServerProcess::start() {
  if (order_.command.program.empty()) return {};
  return foreign() ? start_foreign() : start_engine();
}

Step<> ServerProcess::start_engine() {
  ChildCommand command = order_.command;
  if (const auto place = std::ranges::find(command.words, kUnixSocket); place != command.words.end()) {
    part().folder.emplace();
    *place = "unix:" + part().folder->path() + "/socket";
  }
  if (auto started = processes_.start(part(), command); !started) return started;
  const auto listening = processes_.next_event(part(), "listening", order_.time_to_start);
  if (!listening) return std::unexpected(late_failure(part(), "listen", order_.time_to_start, kAllowsMore));
  address_ = listening->at("address");
  static_cast<ChildFacts&>(result_) = facts_from(*listening);
  result_.missing = listening->value("missing", std::vector<std::string>{});
  return {};
}

Step<> ServerProcess::start_foreign() {
  const std::uint16_t port = free_port(values_.address);
  values_.port = fmt::format("{}", port);
  ChildCommand command = order_.command;
  command.words.back() = server_command(command.words.back(), values_);
  if (auto started = processes_.start(part(), command); !started) return started;
  address_ = host_and_port(values_.address, values_.port);
  if (auto awaited = await_foreign(port); !awaited) return awaited;
  const ListeningAddresses listening = listening_addresses(part().child->processes());
  if (!listening.complete || listening.reached_at(address_)) return {};
  return std::unexpected(failure_of(
      part(),
      fmt::format("no process that the command has started listens on {}: another program answers there",
                  address_)));
}

// Waits for the line of a foreign server that says that it is ready, if it has one. Then dials until it
// accepts a connection: nothing else shows that it listens.
Step<> ServerProcess::await_foreign(std::uint16_t port) {
  constexpr auto kPause = std::chrono::milliseconds(5);
  Child& child = *part().child;
  const std::string& ready = order_.command.ready;
  const Time deadline = Clock::now() + order_.time_to_start;
  const auto is_over = [&] { return child.ended() || processes_.interrupted() || Clock::now() >= deadline; };
  const auto give_up = [&](const std::string& what, const std::string& hint) {
    return std::unexpected(late_failure(part(), what, order_.time_to_start, kAllowsMore + hint));
  };
  if (!ready.empty()) {
    processes_.wait_until(deadline, [&] { return child.is_ready() || child.ended(); });
    if (!child.is_ready()) return give_up(fmt::format("print a line with '{}'", ready), why_silent(child));
  }
  while (!accepts(values_.address, port)) {
    if (is_over()) return give_up("accept a connection on " + address_, listens_elsewhere(child, values_));
    const Time next = Clock::now() + kPause;
    processes_.wait_until(std::min(next, deadline), [&] { return child.ended(); });
  }
  return {};
}

SideFailure ServerProcess::early_end() const {
  return failure_of(
      part(), fmt::format("the server ended in the middle of the trial: {}", part().child->how_it_ended()));
}

// Waits for the end of a foreign server that has been asked to end. It is killed later if it does not. A
// server that has ignored the request once is not waited for again.
void ServerProcess::stop_foreign() {
  const Duration patience = order_.ignores_stop ? Duration{} : order_.time_to_stop;
  result_.ignores_stop = !processes_.wait_until(Clock::now() + patience, [&] {
    return part().child->ended();
  }) && !processes_.interrupted();
  if (result_.ignores_stop)
    result_.notes.push_back(fmt::format("it did not end within {} of SIGTERM, and was killed",
                                        format_duration(order_.time_to_stop)));
}

Step<> ServerProcess::stop() {
  if (!part().child) return {};
  part().child->send_all(SIGTERM);
  if (foreign()) {
    stop_foreign();
    return {};  // the exit status of a foreign program does not matter
  }
  const auto stopped = processes_.next_event(part(), "stopped", order_.time_to_stop);
  if (!stopped) return std::unexpected(late_failure(part(), "stop", order_.time_to_stop));
  const json bytes = stopped->value("bytes", json::object());
  result_.connections_failed = stopped->at("connections").at("failed");
  result_.bytes_received = bytes.value("received", std::uint64_t{0});
  result_.bytes_sent = bytes.value("sent", std::uint64_t{0});
  result_.errors = counts_from(stopped->value("errors", json::object()));
  result_.socket = socket_from(*stopped);
  result_.missing = stopped->value("missing", result_.missing);
  result_.notes = stopped->value("notes", std::vector<std::string>{});
  const bool gone =
      processes_.wait_until(Clock::now() + order_.time_to_stop, [&] { return part().child->ended(); });
  if (!gone) return std::unexpected(late_failure(part(), "end", order_.time_to_stop));
  if (part().child->exit_code() == 0) return {};
  return std::unexpected(
      failure_of(part(), fmt::format("the server ended badly: {}", part().child->how_it_ended())));
}

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
