// SPDX-License-Identifier: MIT
#include "report/race_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/facts_json.hpp"

namespace joust::report {
namespace {

constexpr std::size_t kProgressColumns = 20;

std::string bar(std::size_t done, std::size_t all) {
  return progress_bar(part_of(done, all), kProgressColumns);
}

std::string eta(Duration elapsed, std::size_t done, std::size_t all) {
  if (done == 0) return "";
  const auto left = elapsed / static_cast<std::int64_t>(done) * static_cast<std::int64_t>(all - done);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
  return fmt::format("  eta {}:{:02}", seconds / 60, seconds % 60);
}

// Returns the line of a race that ends by its time or its precision.
std::string line_by_time(const std::string& stage, Duration time, Duration elapsed) {
  const auto part = static_cast<std::size_t>(std::min(elapsed, time).count());
  return fmt::format("{}  {} of {} at most  {}", stage, format_duration(elapsed), format_duration(time),
                     bar(part, static_cast<std::size_t>(time.count())));
}

// Returns "round 2/5"; "round 2" of a race that ends by its time or its precision.
std::string round_words(const race::RaceObserver::Step& step) {
  return step.rounds == 0 ? fmt::format("round {}", step.round)
                          : fmt::format("round {}/{}", step.round, step.rounds);
}

// Returns what follows the stage of a race: the ratios so far, and what disturbs them.
std::string interim_of(const race::RaceObserver::Step& step) {
  std::string text = step.interim.empty() ? "" : "  " + step.interim;
  if (!step.warnings.empty()) text += fmt::format("  ! last round: {}", join(step.warnings));
  return text;
}

}  // namespace

std::string progress_line(const race::RaceObserver::Step& step, double last_rate, Duration elapsed) {
  const bool by_time = step.rounds == 0;
  const std::string of_sweep = step.load_case.point ? "  " + step.load_case.name : "";
  const std::string stage = (step.counting ? "system calls" : round_words(step)) + of_sweep;
  const std::string rate = last_rate > 0 ? fmt::format("  {} msg/s", format_count(last_rate)) : "";
  // The figures take the place of the bar: a line of a usual terminal has no room for both.
  const std::string interim = interim_of(step);
  if (by_time && !interim.empty())
    return fmt::format("{}  {} of {}{}", stage, format_duration(elapsed), format_duration(step.time),
                       interim);
  if (by_time) return line_by_time(stage, step.time, elapsed) + rate;
  return fmt::format("{}  {}  trial {}/{}  {}{}{}{}", stage, left(step.entry.contestant.name, 12), step.trial,
                     step.trials, bar(step.trial - 1, step.trials), rate,
                     eta(elapsed, step.trial - 1, step.trials), interim);
}

std::string round_line(const race::RaceObserver::Step& step, Duration elapsed) {
  const std::string of = step.rounds == 0 ? fmt::format(" of {} at most", format_duration(step.time)) : "";
  return fmt::format("{}{}  {}  {}{}\n", format_duration(elapsed), of, step.load_case.name, round_words(step),
                     interim_of(step));
}

std::string round_json(const race::RaceObserver::Step& step, Duration elapsed) {
  const auto seconds = [](Duration time) { return std::chrono::duration<double>(time).count(); };
  using Json = nlohmann::ordered_json;
  return text_of({{"event", "round"},
                  {"case", step.load_case.name},
                  {"round", step.round},
                  {"rounds", step.rounds == 0 ? Json(nullptr) : Json(step.rounds)},
                  {"elapsed_s", seconds(elapsed)},
                  {"time_s", step.rounds == 0 ? Json(seconds(step.time)) : Json(nullptr)},
                  {"standing", step.interim},
                  {"warnings", step.warnings}});
}

RaceProgress::RaceProgress(ShownAs shown)
    : shown_(shown),
      live_(shown == ShownAs::live && obeys_escapes(STDERR_FILENO)),
      terminal_(terminal_of(STDERR_FILENO)) {}

RaceProgress::~RaceProgress() {
  show("");
}

void RaceProgress::show(const std::string& line) {
  if (!live_) return;
  // The line is never wider than the terminal: a wrapped line could not be erased.
  std::string shown = in_locale(printable(line, "\\"));
  while (width_of(shown) >= terminal_.columns) shown.pop_back();
  redraw_line_of_stderr(shown);
}

void RaceProgress::round_begins(const Step& step) {
  if (step.counting || (step.round == round_ && step.load_case.name == case_)) return;
  round_ = step.round;
  case_ = step.load_case.name;
  const Duration elapsed = Clock::now() - begin_;
  print_to_stderr(shown_ == ShownAs::json ? round_json(step, elapsed)
                                          : in_locale(printable(round_line(step, elapsed), "\n\\")));
}

void RaceProgress::trial_starts(const Step& step) {
  if (shown_ == ShownAs::lines || shown_ == ShownAs::json) round_begins(step);
  show(progress_line(step, last_rate_, Clock::now() - begin_));
}

void RaceProgress::trial_ended(const Step&, const race::Trial& trial) {
  if (trial.load) last_rate_ = trial.throughput_per_s().value_or(last_rate_);
}

void RaceProgress::note(const std::string& text) {
  show("");
  print_to_stderr(shown_ == ShownAs::json ? ::joust::text_of({{"event", "note"}, {"text", text}})
                                          : printable(text, "\n\\") + "\n");
}

}  // namespace joust::report
