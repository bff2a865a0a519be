// SPDX-License-Identifier: MIT
#include "delay/delaying_switch.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <ctime>

#include "base/check.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostAddresses = 4096;  // more are not learned: their frames go to all ports
constexpr int kMostFramesAtOnce = 16;         // of one port, before frames that are due are sent

timespec timespec_of(Duration time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  return {.tv_sec = whole.count(), .tv_nsec = (time - whole).count()};
}

std::array<std::byte, 6> address_at(const std::vector<std::byte>& frame, std::size_t at) {
  std::array<std::byte, 6> address{};
  std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(FramePort::kHeader + at), address.size(),
              address.begin());
  return address;
}

constexpr std::size_t kShortest = FramePort::kHeader + 14;  // both addresses and the type

}  // namespace

DelayingSwitch::DelayingSwitch(Duration delay, const std::vector<std::string>& interfaces,
                               HeldFrames::Limits limits)
    : delay_(delay), held_(limits), room_(FramePort::kLongest) {
  for (const std::string& interface : interfaces) ports_.emplace_back(interface);
}

void DelayingSwitch::run(const volatile std::sig_atomic_t& stop, const sigset_t& while_waiting) {
  std::vector<pollfd> awaited;
  for (const FramePort& port : ports_)
    awaited.push_back({.fd = port.descriptor(), .events = POLLIN, .revents = 0});
  while (stop == 0) {
    timespec left{};
    if (!held_.empty()) left = timespec_of(std::max(held_.first().due - Clock::now(), Duration{}));
    const int ready =
        ::ppoll(awaited.data(), awaited.size(), held_.empty() ? nullptr : &left, &while_waiting);
    if (ready < 0 && errno != EINTR) checked(ready, "ppoll()");
    send_due();
    for (std::size_t i = 0; ready > 0 && i < awaited.size(); ++i)
      if (awaited[i].revents != 0) receive_from(i);
  }
}

void DelayingSwitch::receive_from(std::size_t port) {
  for (int frames = 0; frames < kMostFramesAtOnce; ++frames) {
    const FramePort::Arrival arrival = ports_[port].receive(room_);
    if (arrival.bytes == 0) break;
    if (arrival.bytes >= kShortest) held_.hold(arrival.at + delay_, port, {room_.data(), arrival.bytes});
  }
  send_due();
}

void DelayingSwitch::send_due() {
  while (!held_.empty()) {
    const Time now = Clock::now();
    const HeldFrames::Frame& frame = held_.first();
    if (frame.due > now) return;
    lateness_.record(static_cast<std::uint64_t>((now - frame.due).count()), 1, Writers::one);
    pass_on(frame);
    held_.release();
  }
}

void DelayingSwitch::pass_on(const HeldFrames::Frame& frame) {
  const Address source = address_at(frame.bytes, 6);
  if (port_of_.size() < kMostAddresses || port_of_.contains(source)) port_of_[source] = frame.from;
  const auto known = port_of_.find(address_at(frame.bytes, 0));
  if (known != port_of_.end()) {
    if (known->second != frame.from) send_to(known->second, frame);
    return;
  }
  for (std::size_t port = 0; port < ports_.size(); ++port)
    if (port != frame.from) send_to(port, frame);
}

void DelayingSwitch::send_to(std::size_t port, const HeldFrames::Frame& frame) {
  if (!ports_[port].send(frame.bytes)) {
    ++refused_;
    return;
  }
  ++sent_;
  sent_bytes_ += frame.bytes.size() - FramePort::kHeader;
}

std::string DelayingSwitch::summary() {
  std::uint64_t lost = 0;
  for (FramePort& port : ports_) lost += port.take_lost();
  const Distribution late = lateness_.distribution();
  const auto time = [](std::uint64_t ns) { return format_duration(std::chrono::nanoseconds(ns)); };
  return fmt::format(
      "{} later: {} sent ({}), beyond that {} at the median, {} for 99 %, {} at most; dropped: {} for lack "
      "of "
      "room, {} not read in time, {} refused by an interface, {} still held",
      format_duration(delay_), counted(sent_, "frame"), format_data(static_cast<double>(sent_bytes_)),
      time(late.value_at(0.5)), time(late.value_at(0.99)), time(late.max()), held_.dropped(), lost, refused_,
      held_.size());
}

}  // namespace joust
