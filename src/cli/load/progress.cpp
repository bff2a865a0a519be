// SPDX-License-Identifier: MIT
#include "cli/load/progress.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/signals.hpp"
#include "base/system/events.hpp"
#include "base/terminal.hpp"
#include "base/units.hpp"
#include "measure/histogram.hpp"
#include "report/text.hpp"

namespace joust {
namespace {

// Formats an interval, "3 s" or "250 ms": it is a whole number of milliseconds.
std::string time_text(Duration time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return ms % 1000 == 0 ? fmt::format("{} s", ms / 1000) : fmt::format("{} ms", ms);
}

void print_line(std::string_view time, std::string_view rate, std::string_view p50, std::string_view p99,
                std::string_view errors) {
  print_to_stderr(fmt::format("{}{}{}{}{}\n", report::right(time, 8), report::right(rate, 13),
                              report::right(p50, 10), report::right(p99, 10), report::right(errors, 9)));
}

// The work of the process.
class Lines {
 public:
  Lines(const Recorder& recorder, Duration every, int from)
      : recorder_(recorder), every_(every), from_(from) {}

  void run() {
    const auto opens = heard(std::nullopt);
    if (!opens) return;
    opens_ = before_.at = *opens;
    std::optional<Time> ended;
    while (!(ended = heard(next())) && !left_) show(Clock::now());
    if (ended && *ended >= next()) show(*ended);
  }

 private:
  struct Counts {
    Time at{};
    std::uint64_t verified = 0, errors = 0;
    Distribution latencies{};
  };

  Time next() const { return opens_ + (shown_ + 1) * every_; }

  // Returns the time that the load reports, or nothing if it reports none until `until`. A load that has
  // ended reports no more.
  std::optional<Time> heard(std::optional<Time> until) {
    pollfd readable{from_, POLLIN, 0};
    for (;;) {
      const auto left =
          until ? std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now()).count() : -1;
      const int ready =
          ::poll(&readable, 1, until ? static_cast<int>(std::clamp<long long>(left, 0, 60'000)) : -1);
      if (ready > 0) break;
      if (until && Clock::now() >= *until) return std::nullopt;
    }
    Time told{};
    left_ = retry_interrupted([&] { return ::read(from_, &told, sizeof told); }) != sizeof told;
    return left_ ? std::nullopt : std::optional(told);
  }

  void show(Time now) {
    if (shown_++ == 0) print_line("time", "messages/s", "p50", "p99", "errors");
    const Recorder::Counts counts = recorder_.counts();
    Counts here{.at = now,
                .verified = counts.verified,
                .errors = counts.failed + counts.lost,
                .latencies = recorder_.latencies()};
    const double seconds = std::chrono::duration<double>(now - before_.at).count();
    const auto messages = static_cast<double>(here.verified - before_.verified);
    const Distribution latencies = here.latencies.since(before_.latencies);
    print_line(time_text(shown_ * every_), report::plain_number(messages / seconds),
               report::or_none(latencies.percentile(0.5), format_ns),
               report::or_none(latencies.percentile(0.99), format_ns), grouped(here.errors - before_.errors));
    before_ = std::move(here);
  }

  const Recorder& recorder_;
  const Duration every_;
  const int from_;
  bool left_ = false;  // the load has ended
  Time opens_{};
  std::int64_t shown_ = 0;  // number of lines
  Counts before_{};         // at the end of the last interval
};

// Unblocks the signal that stops both processes. The other signals from the terminal stay blocked: they are
// meant for the load, which ends in order.
void keep_stoppable() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
}

}  // namespace

LoadProgress::LoadProgress(LoadRun& run, Duration every) : run_(run) {
  run.recorder().share();
  OpenPipe pipe = open_pipe(O_CLOEXEC);
  if (!pipe.from.is_open()) return;
  const SignalsBlocked blocked;
  process_ = ::fork();
  if (process_ == 0) {
    pipe.into.close();
    keep_stoppable();
    Lines(run.recorder(), every, pipe.from.get()).run();
    ::_exit(0);
  }
  if (process_ > 0) into_ = std::move(pipe.into);
}

LoadProgress::~LoadProgress() {
  if (process_ < 0) return;
  tell(std::min(Clock::now(), run_.closes().value_or(Time::max())));
  into_.close();
  retry_interrupted([&] { return ::waitpid(process_, nullptr, 0); });
}

// Sends a time to the process. If the process has ended, its lines are missing; SIGPIPE is ignored.
void LoadProgress::tell(Time time) const {
  if (into_.is_open()) static_cast<void>(::write(into_.get(), &time, sizeof time) < 0);
}

}  // namespace joust
