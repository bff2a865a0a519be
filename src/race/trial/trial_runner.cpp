// SPDX-License-Identifier: MIT
#include "race/trial/trial_runner.hpp"

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/text.hpp"
#include "measure/affinity.hpp"
#include "race/trial/child_json.hpp"
#include "race/trial/commands.hpp"
#include "race/trial/external.hpp"
#include "race/trial/result_file.hpp"
#include "race/trial/surroundings.hpp"
#include "race/trial/trial_processes.hpp"

namespace joust::race {
namespace {

using nlohmann::json;

// The allowed error of the time between our readings, relative to the timed window.
constexpr double kMostLateness = 0.10;

// The exit code with which `joust serve` and `joust load` refuse their arguments.
constexpr int kUsageExit = 2;

// The exit code of a shell that does not find the program, and of the dynamic linker.
constexpr int kNotFound = 127;

Usage usage_from(const json& usage) {
  return {.user_s = usage.at("cpu_user_s"),
          .system_s = usage.at("cpu_system_s"),
          .voluntary_switches = usage.at("voluntary_switches"),
          .involuntary_switches = usage.at("involuntary_switches"),
          .peak_memory_bytes = usage.at("peak_memory_bytes")};
}

// The data read at both ends of the timed window.
struct Snapshot {
  Time at = Clock::now();
  Surroundings around{};
  std::optional<Usage> server{};
  Time server_at = at;  // when the server read its usage, if it reports that
  Time counted = at;    // after the reading of the system call counters
};

// One trial from its first process to its last. Every step returns false when the trial has ended early:
// failed, with the reason in the trial, or interrupted.
class OneTrial {
 public:
  OneTrial(const ProcessRunner::Setup& setup, const TrialOrder& order)
      : setup_(setup), order_(order), processes_(setup.stop, order.count_calls) {}

  Trial run() {
    const bool in_order = start_server() && run_load() && read_result() && stop_server();
    if (!in_order) processes_.end(setup_.server_stop);
    if (setup_.stop.requested()) trial_.interrupted = true;
    return std::move(trial_);
  }

 private:
  // The limit of a whole trial, if there is one, applies to the start too.
  Duration time_to_start() const {
    return setup_.scenario.limits.trial_timeout.value_or(setup_.server_start);
  }

  bool external() const { return order_.entry.contestant.external(); }

  bool fail(std::string what, const Part& part) {
    trial_.failure = std::move(what);
    if (part.child) trial_.last_words = part.child->last_words();
    const bool ours = &part == &load_ || !external();
    trial_.refused = ours && part.child && part.child->exit_code() == kUsageExit;
    return false;
  }

  ChildCommand own_command(const Words& words) const {
    ChildCommand command{.program = setup_.program, .words = setup_.first_words};
    command.words.insert(command.words.end(), words.begin(), words.end());
    return command;
  }

  bool start_server() {
    if (order_.entry.in_process) return true;
    return external() ? start_external() : start_engine();
  }

  bool start_engine() {
    processes_.start(server_,
                     own_command(serve_words(setup_.scenario, order_.load_case, order_.entry, setup_.cpus)));
    const auto listening = processes_.next_event(server_, "listening", time_to_start());
    if (!listening) return fail_waiting(server_, "listen", time_to_start());
    address_ = listening->at("address");
    trial_.server.engine = listening->at("engine");
    trial_.server.wait = listening->value("wait", "");
    trial_.server.threads = listening->value("threads", std::uint64_t{0});
    trial_.server.knobs = settings_from(listening->value("knobs", json::object()));
    trial_.server.build = build_from(listening->value("build", json::object()));
    trial_.server.socket = settings_from(listening->value("socket", json::object()));
    trial_.server.missing = listening->value("missing", std::vector<std::string>{});
    return true;
  }

  bool start_external() {
    const std::uint16_t port = free_port();
    ChildCommand command{
        .program = "/bin/sh",
        .words = {"sh", "-c", external_command(order_.entry.contestant, fmt::format("{}", port))}};
    if (!setup_.cpus.server.empty() && setup_.cpus.server != "any")
      command.cpus = parse_cpus(setup_.cpus.server, allowed_cpus()).value_or(std::vector<int>{});
    processes_.start(server_, command);
    address_ = fmt::format("127.0.0.1:{}", port);
    // Polled, because an external server cannot report that it is ready.
    constexpr auto kPause = std::chrono::milliseconds(5);
    const Time deadline = Clock::now() + time_to_start();
    while (!accepts(port)) {
      if (server_.child->ended() || setup_.stop.requested() || Clock::now() >= deadline)
        return fail_waiting(server_, "accept a connection", time_to_start());
      const Time next = Clock::now() + kPause;
      processes_.wait_until(std::min(next, deadline), [&] { return server_.child->ended(); });
    }
    return true;
  }

  bool fail_waiting(const Part& part, const char* what, Duration patience) {
    if (external() && &part == &server_ && part.child->exit_code() == kNotFound)
      return fail(
          fmt::format("the command, or a library that it needs, was not found (exit code {}); if it is a "
                      "program of these sources, run script/build first",
                      kNotFound),
          part);
    if (part.child->ended())
      return fail(fmt::format("{} ended before it could {}: {}", part.name, what, part.child->how_it_ended()),
                  part);
    return fail(fmt::format("{} did not {} within {}", part.name, what, format_duration(patience)), part);
  }

  bool run_load() {
    processes_.start(load_, own_command(load_words(setup_.scenario, order_.load_case, order_.entry,
                                                   setup_.cpus, address_, result_.path())));
    const Duration patience = most_time(setup_.scenario.limits, order_.load_case.load);
    const bool ended = processes_.wait_until(Clock::now() + patience, [&] {
      while (const auto line = load_.child->take_line()) on_load_line(*line);
      return load_.child->ended() || (server_.gone());
    });
    if (setup_.stop.requested()) return false;
    if (!ended)
      return fail(fmt::format("the load did not end within {} and was killed; --trial-timeout allows more",
                              format_duration(patience)),
                  load_);
    if (server_.gone())
      return fail(
          fmt::format("the server ended in the middle of the trial: {}", server_.child->how_it_ended()),
          server_);
    return true;
  }

  void on_load_line(const std::string& line) {
    const std::string event = event_name(json::parse(line, nullptr, false));
    if (event == "measuring") look_at_opening();
    if (event == "measured") look_at_closing();
  }

  // The calls of the readings are not the window's, and the peak of memory is read at the end only, because
  // that takes the server milliseconds.
  void look_at_opening() {
    before_ = Snapshot{.around = read_surroundings(pinned_)};
    ask_server(*before_, kTimesOnly);
    count_calls(*before_, &Part::calls_before);
  }

  void look_at_closing() {
    after_ = Snapshot{.around = read_surroundings(pinned_)};
    count_calls(*after_, &Part::calls_after);
    ask_server(*after_, 0);
  }

  void count_calls(Snapshot& seen, std::uint64_t Part::* calls) {
    for (Part* part : {&server_, &load_})
      if (part->calls) part->*calls = part->calls->count();
    seen.counted = Clock::now();
  }

  void ask_server(Snapshot& seen, int value) {
    if (!server_.running()) return;
    if (external()) {
      seen.server = usage_of_process_tree(server_.child->pid());
      seen.server_at = Clock::now();
      return;
    }
    server_.child->send(SIGUSR1, value);
    const auto answer = processes_.next_event(server_, "usage", setup_.answer);
    if (!answer) return;
    seen.server = usage_from(answer->at("usage"));
    if (answer->contains("at_ns"))
      seen.server_at = Time(std::chrono::nanoseconds(answer->at("at_ns").get<std::int64_t>()));
  }

  bool read_result() {
    const std::string text = result_.content();
    if (load_.child->exit_code() < 0 || text.empty())
      return fail(fmt::format("the load has no result: {}", load_.child->how_it_ended()), load_);
    auto load = parse_load(text);
    if (!load) return fail(load.error(), load_);
    trial_.load = std::move(*load);
    if (!before_ || !after_)
      return fail("the load had no timed window" + (trial_.load->messages_of_errors.empty()
                                                        ? std::string()
                                                        : ": " + trial_.load->messages_of_errors.front()),
                  load_);
    note_surroundings(before_->around, after_->around, trial_);
    if (!in_time(before_->server_at, after_->server_at) ||
        (order_.count_calls && !in_time(before_->counted, after_->counted))) {
      trial_.late = true;
      trial_.calls_reason = "this process was kept from running when the counters had to be read";
      return true;
    }
    if (before_->server && after_->server) trial_.server.usage = *after_->server - *before_->server;
    for (const Part* part : {&server_, &load_}) {
      if (part->calls)
        (part == &server_ ? trial_.server_calls : trial_.client_calls) =
            static_cast<double>(part->calls_after - part->calls_before);
      if (!part->no_calls.empty()) trial_.calls_reason = part->no_calls;
    }
    return true;
  }

  // On a busy machine this process may learn of the window's ends late. The readings then cover another
  // period, and are discarded.
  bool in_time(Time from, Time to) const {
    const auto seconds = [](Duration time) { return std::chrono::duration<double>(time).count(); };
    double difference_s = std::abs(seconds(to - from) - trial_.load->duration_s);
    // With the window's own times, the ends are compared, not only the length.
    if (const auto& window = trial_.load->window_ns)
      difference_s = std::abs(seconds(from - Time(std::chrono::nanoseconds(window->from)))) +
                     std::abs(seconds(to - Time(std::chrono::nanoseconds(window->to))));
    return difference_s <= kMostLateness * trial_.load->duration_s + seconds(setup_.lateness);
  }

  bool stop_server() {
    if (!server_.child) return true;
    server_.child->send_group(SIGTERM);
    if (external()) {
      processes_.wait_until(Clock::now() + setup_.server_stop, [&] { return server_.child->ended(); });
      return true;  // the exit status of an external program does not matter
    }
    const auto stopped = processes_.next_event(server_, "stopped", setup_.server_stop);
    if (setup_.stop.requested()) return false;
    if (!stopped) return fail_waiting(server_, "stop", setup_.server_stop);
    const json bytes = stopped->value("bytes", json::object());
    trial_.server.connections_failed = stopped->at("connections").at("failed");
    trial_.server.bytes_received = bytes.value("received", std::uint64_t{0});
    trial_.server.bytes_sent = bytes.value("sent", std::uint64_t{0});
    trial_.server.errors = counts_from(stopped->value("errors", json::object()));
    trial_.server.socket = settings_from(stopped->value("socket", json::object()));
    trial_.server.missing = stopped->value("missing", trial_.server.missing);
    trial_.server.notes = stopped->value("notes", std::vector<std::string>{});
    const bool gone =
        processes_.wait_until(Clock::now() + setup_.server_stop, [&] { return server_.child->ended(); });
    if (gone && server_.child->exit_code() != 0)
      return fail(fmt::format("the server ended badly: {}", server_.child->how_it_ended()), server_);
    return gone || fail_waiting(server_, "end", setup_.server_stop);
  }

  const ProcessRunner::Setup& setup_;
  const TrialOrder& order_;
  Trial trial_;
  ResultFile result_;
  std::string address_;
  const std::vector<int> pinned_ = pinned_cpus(setup_.cpus, order_.entry.in_process);
  std::optional<Snapshot> before_, after_;
  TrialProcesses processes_;
  Part& server_ = processes_.server;
  Part& load_ = processes_.load;
};

}  // namespace

Duration most_time(const LimitPlan& limits, const LoadPlan& load) {
  using std::chrono::seconds;
  if (limits.trial_timeout) return *limits.trial_timeout;
  if (load.duration)
    return limits.connect_timeout.value_or(seconds(30)) + load.warmup + *load.duration +
           limits.request_timeout.value_or(seconds(5)) + seconds(10);
  return seconds(120) + limits.request_timeout.value_or(Duration{}) + load.warmup +
         load.interval * static_cast<std::int64_t>(load.messages.value_or(0));
}

Trial ProcessRunner::run(const TrialOrder& order) {
  return OneTrial(setup_, order).run();
}

}  // namespace joust::race
