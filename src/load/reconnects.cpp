// SPDX-License-Identifier: MIT
#include "load/run.hpp"

#include <algorithm>
#include <utility>

// Connections in place of ended ones: of connections that end with a reply and, with
// LoadPlan::Reconnect::always, of lost ones.
namespace joust {

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
  recorder_.behind_at_end(channel.entered_window ? due : due_in_window);
}

}  // namespace joust
