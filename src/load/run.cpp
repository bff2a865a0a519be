// SPDX-License-Identifier: MIT
#include "load/run.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "connection/tally.hpp"

namespace joust {
namespace {

constexpr std::int64_t kPeriod_us = std::int64_t{1} << 31;

std::int64_t us_of(Time time) {
  return Duration(time.time_since_epoch()).count() / 1000;
}

}  // namespace

int signalled_time(Time time) {
  const std::int64_t value = us_of(time) % kPeriod_us;
  return static_cast<int>(value == 0 ? 1 : value);
}

Time time_of_signal(int value, Time now) {
  const std::int64_t now_us = us_of(now);
  std::int64_t time_us = now_us - now_us % kPeriod_us + value;
  if (time_us - now_us > kPeriod_us / 2) time_us -= kPeriod_us;
  if (now_us - time_us > kPeriod_us / 2) time_us += kPeriod_us;
  return Time(std::chrono::microseconds(time_us));
}

namespace {

constexpr std::size_t kComplaintsKept = 8;

constexpr Duration kRequestTimeout = std::chrono::seconds(5);
constexpr Duration kLossTimeout = std::chrono::seconds(1);

LoadPlan completed(LoadPlan plan, bool lossy) {
  plan.arrivals = plan.known_arrivals();
  if (!plan.request_timeout) plan.request_timeout = lossy ? kLossTimeout : kRequestTimeout;
  if (!plan.turns) return plan;
  plan.messages.reset();  // the turns of a load determine how long it sends
  plan.warmup = {};
  return plan;
}

}  // namespace

LoadRun::LoadRun(const LoadPlan& plan, bool lossy)
    : plan_(completed(plan, lossy)),
      lossy_(lossy),
      recorder_(plan.messages || plan.turns ? Duration{} : plan.duration, plan.open_loop()) {}

std::optional<Time> LoadRun::load(const Instant_ns& instant) {
  const std::int64_t ns = instant.load(std::memory_order_acquire);
  if (ns == kUnknown) return std::nullopt;
  return Time(Duration(ns));
}

void LoadRun::set(Instant_ns& instant, Time time) {
  instant.store(Duration(time.time_since_epoch()).count(), std::memory_order_release);
}

void LoadRun::reach(Milestone milestone) {
  std::atomic<bool>& reached = reached_[static_cast<std::size_t>(milestone)];
  const bool first =
      !reached.load(std::memory_order_relaxed) && opened_.load() > 0 && !reached.exchange(true);
  if (first) watch_.observer(milestone);
}

void LoadRun::opened(Time now) {
  opened_.fetch_add(1);
  if (plan_.turns) turns_.joined();
  arrived(now);
}

void LoadRun::not_opened(const Failure& failure, Time now) {
  if (plan_.reconnects()) return lost(channels_.take(), failure, now);
  count(failure);
  arrived(now);
}

void LoadRun::arrived(Time now) {
  if (arrived_.fetch_add(1) + 1 != plan_.connections) return;
  reach(Milestone::started);
  if (plan_.turns) return;  // the connections rest
  if (watch_.hold && opened_.load() > 0) now = watch_.hold();
  // With a message count and a warm-up, the window opens when all connections have settled.
  if (!plan_.messages || plan_.warmup == Duration{}) open_window(now + plan_.warmup);
  set(start_, now);
  publications_.announce();
  conclude_phases(now);
}

void LoadRun::open_window(Time now) {
  if (!plan_.messages) set(closes_, now + plan_.duration);
  set(opens_, now);
  if (plan_.messages) reach(Milestone::opened);
}

void LoadRun::begin_turn(Time now, Duration length, std::optional<Duration> ramp) {
  announce_turn(now, now + std::min(length, ramp.value_or(length)), now + length, ramp.has_value());
}

void LoadRun::begin_counted_turn(Time now, std::uint64_t messages, bool recorded) {
  if (turns_.under_way()) return;
  messages_in_turn_.store(messages, std::memory_order_release);
  announce_turn(now, now, recorded ? std::nullopt : std::optional(now), recorded);
}

// Stores the times before the number: a connection reads them when it has seen the new number.
void LoadRun::announce_turn(Time now, Time opens, std::optional<Time> closes, bool recorded) {
  if (turns_.under_way()) return;
  windows_ns_.store(windows(now).count());
  set(start_, now);
  set(opens_, opens);
  set(closes_, closes.value_or(Time(Duration(kUnknown))));
  if (recorded && !load(first_opens_)) set(first_opens_, opens);
  if (turns_.begin(plan_.reconnects())) publications_.announce();
}

void LoadRun::rested(Time now) {
  if (turns_.rested()) end_turn(now);
}

void LoadRun::gone(Turns::Number entered, bool at_rest, Time now) {
  if (turns_.gone(entered, at_rest)) end_turn(now);
}

// Ends a turn. Its window lasts until the last reply.
void LoadRun::end_turn(Time now) {
  if (turn_is_recorded()) set(closes_, std::max(now, closes().value_or(now)));
  watch_.observer(Milestone::rested);
}

void LoadRun::entered_window() {
  reach(Milestone::opened);
}

void LoadRun::stopped(Time now) {
  if (const auto known = closes(); !plan_.messages && known && now < *known) set(closes_, now);
}

void LoadRun::settled(Time now) {
  settled_.fetch_add(1);
  conclude_phases(now);
}

void LoadRun::measured(Time now) {
  const bool last = measured_.fetch_add(1) + 1 == opened_.load();
  const bool over = last || !plan_.open_loop();  // an open loop awaits the replies of its window
  if (!plan_.messages && over && closes() && now >= *closes()) reach(Milestone::closed);
  conclude_phases(now);
}

// Checks both counts after a change of either, because connections may end before the last one has arrived.
void LoadRun::conclude_phases(Time now) {
  if (!plan_.messages || arrived_.load() != plan_.connections) return;
  if (settled_.load() == opened_.load() && plan_.warmup != Duration{} && !window_opened_.exchange(true)) {
    open_window(now);
    publications_.announce();
  }
  if (measured_.load() == opened_.load() && !closes()) {
    set(closes_, now);
    reach(Milestone::closed);
  }
}

void LoadRun::failed(const Failure& failure) {
  failed_.fetch_add(1);
  count(failure);
}

void LoadRun::count(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  ++by_stage_[static_cast<std::size_t>(failure.stage)];
  try {
    const bool first_wrong_reply = by_stage_[static_cast<std::size_t>(Stage::verify)] == 1;
    if (failure.stage == Stage::verify && !first_wrong_reply) return;  // the first describes all
    std::string text = describe(failure);
    if (complaints_.size() < kComplaintsKept && std::ranges::find(complaints_, text) == complaints_.end())
      complaints_.push_back(std::move(text));
  } catch (const std::bad_alloc&) {
    // The failure is counted without its text. The load must go on: other connections wait for the count.
  }
}

// Returns the length of all windows. If no connection was ready, no window was opened. A load that takes
// turns has several.
Duration LoadRun::windows(Time ended) const {
  const Duration last = std::min(closes().value_or(ended), ended) - opens().value_or(ended);
  return std::max(Duration{}, last) + windows_before();
}

std::uint64_t LoadRun::connections_failed() const {
  return plan_.connections - std::min<std::uint64_t>(opened_.load(), plan_.connections) + failed_.load() +
         down_.load();
}

std::uint64_t LoadRun::failures(Stage stage) const {
  const std::lock_guard lock(mutex_);
  return by_stage_[static_cast<std::size_t>(stage)];
}

std::vector<std::string> LoadRun::complaints() const {
  const std::lock_guard lock(mutex_);
  return complaints_;
}

// Connections in place of ended ones: of connections that end with a reply and, with
// LoadPlan::Reconnect::always, of lost ones.

// Returns the end of the window of a load that measures for a time, as soon as it is known.
std::optional<Time> LoadRun::end_of_window() const {
  return plan_.messages || plan_.turns ? std::nullopt : closes();
}

void LoadRun::handed_over(Channel channel, Time now) {
  handovers_.fetch_add(1);
  channels_.hand_over(std::move(channel), now);
}

void LoadRun::lost(Channel channel, const Failure& failure, Time now) {
  count(failure);
  if (channel.opened && !std::exchange(channel.down, true)) down_.fetch_add(1);
  if (!channels_.wait(channel, now)) give_up(channel, now);
}

// Gives a lost channel a connection again. It takes no part in a turn that began while all connections were
// lost.
Turns::Number LoadRun::reconnected(Channel& channel, Time now) {
  reconnects_.fetch_add(1);
  if (std::exchange(channel.down, false)) down_.fetch_sub(1);
  if (!plan_.turns) return 0;
  const Turns::Number turn = turns_.joined();
  if (turns_.end_deserted()) end_turn(now);
  return turn;
}

// Returns the next dial. A turn without a connection takes its full time, or no time if it is a count: the
// contestant has its turn, and does not work.
std::optional<Redial> LoadRun::redial(Time now) {
  if (channels_.dial_handover()) return Redial{.at = now};
  if (!plan_.reconnects()) return std::nullopt;
  const bool deserted = turns_.deserted();
  const Time turn_ends = deserted ? closes().value_or(now) : Time::max();
  if (deserted && now >= turn_ends && turns_.end_deserted()) end_turn(now);
  const Time end = end_of_window().value_or(Time::max());
  if (now >= end) {
    while (const auto channel = channels_.take_waiting()) give_up(*channel, now);
    return std::nullopt;
  }
  const auto next = channels_.dial(now);
  if (!next) return std::nullopt;
  if (*next <= now) return Redial{.at = *next, .until = end};
  return Redial{.at = std::min({*next, end, now < turn_ends ? turn_ends : *next})};
}

void LoadRun::give_up(const Channel& channel, Time now) {
  if (!channel.opened) return arrived(now);
  if (plan_.turns) return;  // Turns has counted the end of the connection
  if (plan_.messages && plan_.warmup != Duration{} && !channel.settled) settled(now);
  lose_schedule(channel);
  measured(now);
}

// Counts the requests that were due in the window and will not be sent any more.
void LoadRun::lose_schedule(const Channel& channel) {
  if (!plan_.open_loop() || plan_.messages || !start() || !channel.schedule) return;
  Schedule schedule = *channel.schedule;
  if (!schedule.has_begun()) schedule.begin(*start());
  const std::uint64_t due = schedule.due_before(*closes());
  const std::uint64_t due_in_window = due - schedule.due_before(*opens());
  recorder_.never_sent(due_in_window);
  recorder_.at_close(channel.entered_window ? due : due_in_window, 0);
}

}  // namespace joust
