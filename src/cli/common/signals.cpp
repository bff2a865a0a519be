// SPDX-License-Identifier: MIT
#include "cli/common/signals.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <string_view>

#include "base/check.hpp"
#include "base/text.hpp"
#include "load/result_json.hpp"
#include "measure/usage.hpp"
#include "report/facts_json.hpp"

namespace joust {
namespace {

std::atomic<Stop*> stop_to_request{nullptr};
std::atomic<void (*)(int)> report_to_make{nullptr};
std::atomic<bool> has_asked{false};
std::atomic<bool> second_ends{false};
std::atomic<int> last_signal{0};
constexpr unsigned kLongestEnd_s = 3;
constexpr int kKilledBy = 128;  // as the shell has it: 128 + the number of the signal
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<Stop*>::is_always_lock_free &&
              std::atomic<void (*)(int)>::is_always_lock_free);

void on_signal(int signal, siginfo_t* info, void* /*context*/) {
  const int error = errno;  // the interrupted code may be about to read it
  if (signal != SIGUSR1) {
    has_asked = true;
    if (Stop* const stop = stop_to_request) {
      if (second_ends && stop->requested() && last_signal.exchange(signal) == 0) ::alarm(kLongestEnd_s);
      stop->request();
    }
  } else if (const auto report = report_to_make.load()) {
    report(info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
  }
  errno = error;
}

void on_alarm(int /*signal*/) {
  constexpr std::string_view kWords =
      "joust: ended at once, because it has not come to an end 3 s after the second signal\n";
  static_cast<void>(::write(STDERR_FILENO, kWords.data(), kWords.size()) < 0);
  ::_exit(kKilledBy + last_signal);
}

}  // namespace

Signals::Signals(Stop& stop, void (*report)(int), Second second) {
  assert(stop_to_request == nullptr);
  stop_to_request = &stop;
  report_to_make = report;
  has_asked = false;
  second_ends = second == Second::ends;
  last_signal = 0;
  struct sigaction alarm {};
  alarm.sa_handler = on_alarm;
  checked(::sigaction(SIGALRM, &alarm, &before_alarm_), "sigaction(SIGALRM)");
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  for (const int signal : kWatched) sigaddset(&action.sa_mask, signal);
  for (std::size_t i = 0; i < kWatched.size(); ++i) {
    checked(::sigaction(kWatched[i], &action, &before_[i]), "sigaction({})", kWatched[i]);
    if (kWatched[i] == SIGHUP && before_[i].sa_handler == SIG_IGN)
      ::sigaction(kWatched[i], &before_[i], nullptr);
  }
}

// The process that conducts turns may send one SIGUSR1 more than the load takes. It is ignored then, so that
// it does not kill the process while the result is written.
Signals::~Signals() {
  ::alarm(0);
  ::sigaction(SIGALRM, &before_alarm_, nullptr);
  if (report_to_make != nullptr) before_.back().sa_handler = SIG_IGN;
  if (has_asked)
    for (struct sigaction& before : before_) before.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < kWatched.size(); ++i) ::sigaction(kWatched[i], &before_[i], nullptr);
  stop_to_request = nullptr;
  report_to_make = nullptr;
}

nlohmann::ordered_json stopped_event(const Tally& tally, const Listeners& listeners,
                                     const std::vector<ResultGroup>& groups) {
  nlohmann::ordered_json errors = nlohmann::ordered_json::object();
  for (std::size_t stage = 0; stage < kStages; ++stage)
    if (const auto count = tally.failures(static_cast<Stage>(stage)))
      errors[std::string(stage_name(static_cast<Stage>(stage)))] = count;
  nlohmann::ordered_json event{
      {"event", "stopped"},
      {"connections",
       {{"accepted", tally.opened.load() + tally.unopened.load()}, {"failed", tally.failures()}}},
      {"bytes", {{"received", tally.received.load()}, {"sent", tally.sent.load()}}},
      {"errors", errors},
      {"messages_of_errors", tally.complaints()},
      {"usage", to_json(own_usage())},
      {"socket", to_json(listeners.facts())},
      {"notes", tally.notes()},
      {"missing", tally.missing()}};
  add_groups(event, groups);
  return event;
}

void complain_of_failures(const Program& program, const Tally& tally) {
  if (const auto failed = tally.failures(); failed > 0)
    complain(program, fmt::format("{} failed:\n  {}", counted(failed, "connection"),
                                  join(tally.complaints(), "\n  ")));
}

}  // namespace joust
