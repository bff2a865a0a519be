// SPDX-License-Identifier: MIT
#include "race/trial/trial_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/limit_behind.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "measure/affinity.hpp"
#include "race/trial/child_json.hpp"
#include "race/trial/external.hpp"

namespace joust::race {
namespace {

using nlohmann::json;

// The exit code with which `joust serve` and `joust load` refuse their arguments.
constexpr int kUsageExit = 2;

// The exit code of a shell that does not find the program, and of the dynamic linker.
constexpr int kNotFound = 127;

// The end of a message about a server that did not start in time.
constexpr const char* kAllowsMore = " (--ready-timeout allows more)";

// Returns where an external server listens in place of the address that the load connects to, and where it
// would have found its port.
std::string listens_elsewhere(Child& server) {
  const std::vector<std::string> addresses = listening_addresses(server.processes()).addresses;
  if (addresses.empty()) return "";
  return fmt::format("; it listens on {}, and its port is given by {{port}}, or else by the variable PORT",
                     join(addresses));
}

// Returns a hint at why an external server has not printed its line.
std::string why_silent(const Child& server) {
  if (!server.last_words().empty()) return "";
  return "; it has printed nothing, and many programs print into a pipe only when they flush (stdbuf -oL, "
         "python3 -u)";
}

}  // namespace

// Returns the time to start. The limit of a whole trial, if it has one, applies to the start too, unless the
// contestant has a limit of its own.
Duration TrialSides::time_to_start() const {
  return order_.entry.contestant.ready_timeout.value_or(
      setup_.scenario.limits.trial_timeout.value_or(setup_.server_start));
}

bool TrialSides::fail(std::string what, const Part& part) {
  trial_.failure = std::move(what);
  if (part.child) trial_.last_words = part.child->last_words();
  const bool ours = !order_.load_case.files && (&part == &load() || !external());
  trial_.refused = ours && part.child && part.child->exit_code() == kUsageExit;
  return false;
}

ChildCommand TrialSides::own_command(const Words& words) const {
  ChildCommand command{.program = setup_.program, .words = setup_.first_words};
  command.words.insert(command.words.end(), words.begin(), words.end());
  return command;
}

bool TrialSides::start_server(CommandValues values) {
  values_ = std::move(values);
  if (order_.entry.in_process) return true;
  return external() ? start_external() : start_engine();
}

bool TrialSides::start_engine() {
  Words words = serve_words(setup_.scenario, order_.load_case, order_.entry, setup_.cpus);
  if (order_.entry.listen == kUnixSocket) {
    socket_folder_.emplace();
    std::ranges::replace(words, std::string(kUnixSocket), "unix:" + socket_folder_->path() + "/socket");
  }
  if (!start(server(), own_command(words))) return false;
  const auto listening = processes_.next_event(server(), "listening", time_to_start());
  if (!listening) return fail_waiting(server(), "listen", time_to_start(), kAllowsMore);
  address_ = listening->at("address");
  static_cast<ChildFacts&>(trial_.server) = facts_from(*listening);
  trial_.server.missing = listening->value("missing", std::vector<std::string>{});
  return true;
}

ChildCommand TrialSides::shell_command(const std::string& text, const std::string& cpus) const {
  ChildCommand command{.program = "/bin/sh", .words = {"sh", "-c", text}, .foreign = true};
  if (!cpus.empty() && cpus != "any")
    command.cpus = parse_cpus(cpus, allowed_cpus()).value_or(std::vector<int>{});
  return command;
}

bool TrialSides::start_external() {
  if (order_.entry.contestant.command.empty()) return true;
  const std::uint16_t port = free_port();
  values_.port = fmt::format("{}", port);
  ChildCommand command =
      shell_command(server_command(order_.entry.contestant.command, values_), setup_.cpus.server);
  command.ready = order_.entry.contestant.ready;
  if (!start(server(), command)) return false;
  address_ = "127.0.0.1:" + values_.port;
  if (!await_external(port)) return false;
  const ListeningAddresses listening = listening_addresses(server().child->processes());
  if (!listening.complete || listening.reached_at(port)) return true;
  return fail(
      fmt::format("no process that the command has started listens on {}: another program answers there",
                  address_),
      server());
}

// Waits for the line of an external server that says that it is ready, if it has one. Then dials until it
// accepts a connection: nothing else shows that it listens.
bool TrialSides::await_external(std::uint16_t port) {
  constexpr auto kPause = std::chrono::milliseconds(5);
  Child& child = *server().child;
  const std::string& ready = order_.entry.contestant.ready;
  const Time deadline = Clock::now() + time_to_start();
  const auto is_over = [&] { return child.ended() || setup_.stop.requested() || Clock::now() >= deadline; };
  const auto give_up = [&](const std::string& what, const std::string& hint) {
    return fail_waiting(server(), what, time_to_start(), kAllowsMore + hint);
  };
  if (!ready.empty()) {
    processes_.wait_until(deadline, [&] { return child.is_ready() || child.ended(); });
    if (!child.is_ready()) return give_up(fmt::format("print a line with '{}'", ready), why_silent(child));
  }
  while (!accepts(port)) {
    if (is_over()) return give_up("accept a connection on " + address_, listens_elsewhere(child));
    const Time next = Clock::now() + kPause;
    processes_.wait_until(std::min(next, deadline), [&] { return child.ended(); });
  }
  return true;
}

bool TrialSides::fail_waiting(const Part& part, const std::string& what, Duration patience,
                              const std::string& hint) {
  if (external() && &part == &server() && part.child->exit_code() == kNotFound) {
    trial_.not_found = true;
    return fail(
        fmt::format("the command, or a library that it needs, was not found (exit code {})", kNotFound),
        part);
  }
  if (part.child->ended())
    return fail(fmt::format("{} ended before it could {}: {}", part.name, what, part.child->how_it_ended()),
                part);
  return fail(fmt::format("{} did not {} within {}{}", part.name, what, format_duration(patience), hint),
              part);
}

bool TrialSides::fail_without_server() {
  return fail(fmt::format("the server ended in the middle of the trial: {}", server().child->how_it_ended()),
              server());
}

bool TrialSides::start_load() {
  return start(load(), own_command(load_words(setup_.scenario, order_.load_case, order_.entry, setup_.cpus,
                                              address_, result_.path(), PlanAs::document)));
}

bool TrialSides::start_transfer() {
  return start(load(), shell_command(filled(order_.entry.contestant.transfer, values_), setup_.cpus.client));
}

// Fails the trial if no process can be made. Later trials may still get a process, and the race keeps its
// measurements.
bool TrialSides::start(Part& part, const ChildCommand& command) {
  try {
    processes_.start(part, command);
    return true;
  } catch (const std::system_error& error) {
    return fail(fmt::format("{} could not be started: {}{}", part.name, error.what(),
                            limit_behind(error.code().value())),
                part);
  }
}

bool TrialSides::read_result() {
  const std::string text = result_.content();
  if (load().child->exit_code() < 0 || text.empty()) {
    const std::vector<std::string> said = load().child->last_words();
    return fail(fmt::format("the load has no result: {}{}", load().child->how_it_ended(),
                            said.empty() ? "" : ": " + said.back()),
                load());
  }
  const auto wrong = read_load(text, trial_);
  return !wrong || fail(*wrong, load());
}

void TrialSides::note_scheduling() {
  const auto& trials = order_.entry.trials;
  const auto known = [](const Trial& trial) { return trial.scheduling.has_value(); };
  if (trial_.scheduling || std::ranges::any_of(trials, known)) return;
  Scheduling& found = trial_.scheduling.emplace(Scheduling{.race = own_thread_group()});
  if (server().running()) found.server = thread_groups(server().child->processes());
  if (load().running()) found.client = thread_groups(load().child->processes());
}

// Waits for the end of an external server that has been asked to end. It is killed later if it does not. A
// server that has ignored the request once is not waited for again.
void TrialSides::stop_external() {
  const bool ignores = std::ranges::any_of(order_.entry.trials,
                                           [](const Trial& earlier) { return earlier.server.ignores_stop; });
  const Duration patience = ignores ? Duration{} : setup_.server_stop;
  trial_.server.ignores_stop = !processes_.wait_until(Clock::now() + patience, [&] {
    return server().child->ended();
  }) && !setup_.stop.requested();
  if (trial_.server.ignores_stop)
    trial_.server.notes.push_back(fmt::format("it did not end within {} of SIGTERM, and was killed",
                                              format_duration(setup_.server_stop)));
}

bool TrialSides::stop_server() {
  if (!server().child) return true;
  server().child->send_all(SIGTERM);
  if (external()) {
    stop_external();
    return true;  // the exit status of an external program does not matter
  }
  const auto stopped = processes_.next_event(server(), "stopped", setup_.server_stop);
  if (setup_.stop.requested()) return false;
  if (!stopped) return fail_waiting(server(), "stop", setup_.server_stop);
  const json bytes = stopped->value("bytes", json::object());
  trial_.server.connections_failed = stopped->at("connections").at("failed");
  trial_.server.bytes_received = bytes.value("received", std::uint64_t{0});
  trial_.server.bytes_sent = bytes.value("sent", std::uint64_t{0});
  trial_.server.errors = counts_from(stopped->value("errors", json::object()));
  trial_.server.socket = socket_from(*stopped);
  trial_.server.missing = stopped->value("missing", trial_.server.missing);
  trial_.server.notes = stopped->value("notes", std::vector<std::string>{});
  const bool gone =
      processes_.wait_until(Clock::now() + setup_.server_stop, [&] { return server().child->ended(); });
  if (gone && server().child->exit_code() != 0)
    return fail(fmt::format("the server ended badly: {}", server().child->how_it_ended()), server());
  return gone || fail_waiting(server(), "end", setup_.server_stop);
}

}  // namespace joust::race
