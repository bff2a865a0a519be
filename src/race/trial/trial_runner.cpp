// SPDX-License-Identifier: MIT
#include "race/trial/trial_runner.hpp"

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/check.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "measure/usage.hpp"
#include "race/trial/child.hpp"
#include "race/trial/local_sides.hpp"
#include "race/trial/process_family.hpp"
#include "race/trial/runner.hpp"
#include "race/trial/sides.hpp"
#include "race/trial/surroundings.hpp"
#include "race/trial/transfer_trial.hpp"

namespace joust::race {
namespace {

// A contestant whose both sides are processes of this host.
struct LocalContender {
  LocalContender(const ProcessSetup& setup, const TrialOrder& order)
      : serving(server_order(setup, order)),
        loading(load_order(setup, order)),
        processes(setup.stop, order.count_calls),
        contender(std::make_unique<LocalServer>(processes, serving),
                  std::make_unique<LocalLoad>(processes, loading), order.entry.client_forks, setup.stop) {}

  const ServerOrder serving;
  const LoadOrder loading;
  TrialProcesses processes;
  Contender contender;
};

// A generation of real processes.
class ProcessGeneration : public Generation {
 public:
  ProcessGeneration(const ProcessSetup& setup, const std::vector<TrialOrder>& orders) {
    for (const TrialOrder& order : orders)
      contenders_.push_back(std::make_unique<LocalContender>(setup, order));
  }

  bool start(std::size_t contestant) override { return contenders_[contestant]->contender.start(); }
  std::optional<Turn> take_turn(std::size_t contestant, TurnSize size, bool recorded) override {
    return contenders_[contestant]->contender.take_turn(size, recorded);
  }
  Trial finish(std::size_t contestant) override { return contenders_[contestant]->contender.finish(); }

 private:
  std::vector<std::unique_ptr<LocalContender>> contenders_;
};

using nlohmann::json;

// The allowed error of the time between our readings, relative to the timed window.
constexpr double kMostLateness = 0.10;
constexpr int kMostReadings = 5;  // of processes that come and go

Usage usage_document(const json& usage) {
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
  OneTrial(const ProcessSetup& setup, const TrialOrder& order) : setup_(setup), order_(order) {}

  Trial run() {
    const bool in_order = start() && run_load() && read_result() && stop_server();
    if (!in_order) processes_.end(setup_.server_stop);
    trial_.server = std::move(serving_.result());
    if (setup_.stop.requested()) trial_.interrupted = true;
    return std::move(trial_);
  }

 private:
  bool start() {
    auto served = serving_.start();
    if (!succeeded(served, trial_)) return false;
    auto loaded = loading_.start(load_order_.command, serving_.address());
    return succeeded(loaded, trial_);
  }

  bool run_load() {
    const Duration patience = most_time(setup_.scenario.limits, order_.load_case.load);
    const bool ended = processes_.wait_until(Clock::now() + patience, [&] {
      while (const auto line = load_.child->take_line()) on_load_line(*line);
      return load_.child->ended() || (server_.gone());
    });
    if (setup_.stop.requested()) return false;
    if (!ended)
      return fail_load(
          fmt::format("the load did not end within {} and was killed; --trial-timeout allows more",
                      format_duration(patience)));
    return !server_.gone() || fail(serving_.early_end(), trial_);
  }

  bool stop_server() {
    auto stopped = serving_.stop();
    return !setup_.stop.requested() && succeeded(stopped, trial_);
  }

  bool fail_load(std::string what) { return fail(failure_of(load_, std::move(what)), trial_); }

  void on_load_line(const std::string& line) {
    const std::string event = event_name(json::parse(line, nullptr, false));
    if (event == "measuring") look_at_opening();
    if (event == "measured") look_at_closing();
  }

  // Reads the counters so that the calls of the readings are outside of the window. The peak of memory is
  // read only at the end, because reading it takes the server milliseconds.
  void look_at_opening() {
    before_ = Snapshot{.around = read_surroundings(*load_order_.watched)};
    ask_server(*before_, kTimesOnly);
    count_calls(*before_, &Part::calls_before);
  }

  void look_at_closing() {
    after_ = Snapshot{.around = read_surroundings(*load_order_.watched)};
    count_calls(*after_, &Part::calls_after);
    ask_server(*after_, 0);
    if (!order_.count_calls && server_order_.shows_scheduling) trial_.scheduling = scheduling();
  }

  void count_calls(Snapshot& seen, std::uint64_t Part::*calls) {
    for (Part* part : {&server_, &load_})
      if (part->calls) part->*calls = part->calls->count();
    seen.counted = Clock::now();
  }

  Scheduling scheduling() const {
    const auto groups = [](const Part& part) {
      return part.running() ? thread_groups(part.child->processes()) : std::vector<ThreadGroup>{};
    };
    return {.race = own_thread_group(), .server = groups(server_), .client = groups(load_)};
  }

  void ask_server(Snapshot& seen, int value) {
    if (!server_.running()) return;
    if (serving_.foreign()) {
      const std::vector<pid_t> processes = server_.child->processes();
      seen.server = usage_of_processes(processes);
      seen.server_at = Clock::now();
      family_.read_s(processes, server_.child->ended_cpu_s());
      serving_.result().cpu_unknown = family_.why_wrong();
      serving_.result().ignores_ends = ignores_ends(processes);
      return;
    }
    if (order_.entry.server_forks) return ask_forking_server(seen, value);
    seen.server = reported(seen, value);
  }

  // The server reports its own usage and that of the processes that have ended, exactly; those that live are
  // read here. If one ends meanwhile, it counts twice or not at all, so all are read again.
  void ask_forking_server(Snapshot& seen, int value) {
    const auto others = [&] {
      std::vector<pid_t> processes = server_.child->processes();
      std::erase(processes, server_.child->pid());
      return processes;
    };
    for (int reading = 0; reading < kMostReadings; ++reading) {
      const std::vector<pid_t> before = others();
      const Usage living = usage_of_processes(before).value_or(Usage{});
      seen.server = reported(seen, value);
      if (!seen.server) return;
      seen.server = together(*seen.server, living);
      if (others() == before) return;
    }
  }

  // Asks a server of joust for what it has used. Nothing if it does not answer.
  std::optional<Usage> reported(Snapshot& seen, int value) {
    server_.child->send(SIGUSR1, value);
    const auto answer = processes_.next_event(server_, "usage", setup_.answer);
    if (!answer) return std::nullopt;
    if (answer->contains("at_ns"))
      seen.server_at = Time(std::chrono::nanoseconds(answer->at("at_ns").get<std::int64_t>()));
    return usage_document(answer->at("usage"));
  }

  bool read_result() {
    auto document = loading_.document();
    if (!succeeded(document, trial_)) return false;
    if (const auto wrong = read_load(*document, trial_)) return fail_load(*wrong);
    if (!before_ || !after_)
      return fail_load("the load had no timed window" +
                       (trial_.load->messages_of_errors.empty()
                            ? std::string()
                            : ": " + trial_.load->messages_of_errors.front()));
    note_surroundings(window_of(before_->around, after_->around), trial_);
    if (!in_time(before_->server_at, after_->server_at) ||
        (order_.count_calls && !in_time(before_->counted, after_->counted))) {
      trial_.late = true;
      trial_.calls_reason = "this process was kept from running when the counters had to be read";
      return true;
    }
    if (before_->server && after_->server) serving_.result().usage = *after_->server - *before_->server;
    for (const Part* part : {&server_, &load_}) {
      if (part->calls)
        (part == &server_ ? trial_.server_calls : trial_.client_calls) =
            static_cast<double>(part->calls_after - part->calls_before);
      if (!part->no_calls.empty()) trial_.calls_reason = part->no_calls;
    }
    return true;
  }

  // Returns whether the readings were in time. On a busy machine this process may detect the window's ends
  // late. The readings then cover another period, and are discarded.
  bool in_time(Time from, Time to) const {
    const auto in_s = [](Duration time) { return std::chrono::duration<double>(time).count(); };
    double difference_s = std::abs(in_s(to - from) - trial_.load->duration_s);
    // If the window's own times are known, the ends are compared, not only the length.
    if (const auto& window = trial_.load->window_ns)
      difference_s = std::abs(in_s(from - window->from)) + std::abs(in_s(to - window->to));
    return difference_s <= kMostLateness * trial_.load->duration_s + in_s(setup_.lateness);
  }

  const ProcessSetup& setup_;
  const TrialOrder& order_;
  const ServerOrder server_order_ = server_order(setup_, order_);
  const LoadOrder load_order_ = load_order(setup_, order_);
  TrialProcesses processes_{setup_.stop, order_.count_calls};
  ServerProcess serving_{processes_, server_order_};
  LoadProcess loading_{processes_};
  std::optional<Snapshot> before_, after_;
  FamilyClock family_;  // of a foreign server
  Trial trial_{};
  Part& server_ = processes_.server;
  Part& load_ = processes_.load;
};

}  // namespace

Trial ProcessRunner::run(const TrialOrder& order) {
  if (order.load_case.files) return run_transfer(setup_, order, files_);
  return OneTrial(setup_, order).run();
}

std::unique_ptr<Generation> ProcessRunner::generation(std::vector<TrialOrder> orders) {
  return std::make_unique<ProcessGeneration>(setup_, orders);
}

}  // namespace joust::race
