// SPDX-License-Identifier: MIT
#include "load/channels.hpp"

#include <algorithm>
#include <utility>

#include "load/progress.hpp"

namespace joust {
namespace {

bool is_later(const Channel& one, const Channel& other) {
  return one.due > other.due;
}

void push(std::vector<Channel>& heap, Channel channel) {
  heap.push_back(std::move(channel));
  std::ranges::push_heap(heap, is_later);
}

Channel pop(std::vector<Channel>& heap) {
  std::ranges::pop_heap(heap, is_later);
  Channel first = std::move(heap.back());
  heap.pop_back();
  return first;
}

}  // namespace

Channel::Channel(const LoadPlan& plan, std::uint64_t its_number)
    : number(its_number), backoff(plan.backoff_least, plan.backoff_most, mixed(plan.seed) + its_number) {}

Channel::Channel(Channel&& other) noexcept = default;
Channel& Channel::operator=(Channel&& other) noexcept = default;
Channel::~Channel() = default;

Channels::Channels(const LoadPlan& plan)
    : plan_(plan),
      reconnect_for_(plan.reconnect_for == Duration{} ? plan.warmup + plan.duration : plan.reconnect_for) {
  dialled_.reserve(plan.connections);
  handed_over_.reserve(plan.connections);
  if (plan.reconnects()) waiting_.reserve(plan.connections);
}

void Channels::begin(Time now) {
  const std::lock_guard lock(mutex_);
  began_ = now;
}

Channel Channels::take() {
  const std::lock_guard lock(mutex_);
  if (dialled_.empty()) return {plan_, plan_.first_connection + taken_++};
  Channel channel = std::move(dialled_.back());
  dialled_.pop_back();
  return channel;
}

void Channels::give_back(Channel channel) {
  const std::lock_guard lock(mutex_);
  dialled_.push_back(std::move(channel));
}

std::optional<Channel> Channels::take_handover() {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(dialled_, [](const Channel& channel) { return channel.handover != nullptr; });
  if (found == dialled_.end()) return std::nullopt;
  std::swap(*found, dialled_.back());
  std::optional<Channel> channel(std::move(dialled_.back()));
  dialled_.pop_back();
  return channel;
}

void Channels::hand_over(Channel channel, Time now) {
  const std::lock_guard lock(mutex_);
  channel.due = now;
  push(handed_over_, std::move(channel));
}

bool Channels::dial_handover() {
  const std::lock_guard lock(mutex_);
  if (handed_over_.empty()) return false;
  dialled_.push_back(pop(handed_over_));
  return true;
}

bool Channels::wait(Channel& channel, Time now) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(channel.replied, false)) {
    channel.backoff.restart();
    channel.since = now;
  }
  if (!channel.since) channel.since = began_.value_or(now);
  const Time end = *channel.since + reconnect_for_;
  if (now >= end) return false;
  channel.due = std::min(now + channel.backoff.next(), end);
  push(waiting_, std::move(channel));
  return true;
}

std::optional<Time> Channels::dial(Time now) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  const Time due = waiting_.front().due;
  if (due > now) return due;
  dialled_.push_back(pop(waiting_));
  return due;
}

std::optional<Channel> Channels::take_waiting() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  std::optional<Channel> last(std::move(waiting_.back()));  // last element of the heap
  waiting_.pop_back();
  return last;
}

}  // namespace joust
