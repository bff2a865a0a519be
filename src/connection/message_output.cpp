// SPDX-License-Identifier: MIT
//
// The output of a MessageConnection.
#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "base/endian.hpp"
#include "connection/message_connection.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostMessages = 64;  // in one output()
constexpr std::size_t kInHead = kPlainDatagram - DatagramHead::kBytes;
constexpr Duration kLongestLeavePause = milliseconds(200);

}  // namespace

bool MessageConnection::has_output() const {
  const bool says_goodbye = (owes_left_ || says_leave_) && !waits_for_group();
  return !over_ && (owes_joined_ || says_goodbye || says_alive_ || session_shows());
}

std::size_t MessageConnection::output(std::span<DatagramOut> into, Time now) {
  shown_.clear();
  if (over_) return 0;
  std::size_t count = 0;
  std::array<std::byte, kGroupPlaceBytes> place{};
  if (link_.group != nullptr) place = link_.group->place();
  const Bytes of_group = link_.group != nullptr ? Bytes(place) : Bytes();
  const auto show = [&](bool wanted, const DatagramHead& head, Bytes payload = {}) {
    if (!wanted || count == into.size()) return;
    write_signal(head, into[count], payload);
    shown_.push_back({head.kind, 0, into[count++].size()});
  };
  const auto idle_ms = static_cast<std::uint64_t>(limits_.idle / milliseconds(1));
  show(owes_joined_, {.kind = DatagramKind::joined, .token = link_.token, .number = idle_ms}, of_group);
  show(says_alive_, {.kind = DatagramKind::join, .keep_alive = true, .token = link_.token});
  count += data(into.subspan(count), now);
  const Bytes sent = of_group.last(std::min(of_group.size(), kGroupCountBytes));
  if (waits_for_group()) return count;
  show(says_leave_, {.kind = DatagramKind::leave, .token = link_.token, .number = next_number_}, sent);
  show(owes_left_, {.kind = DatagramKind::left, .token = link_.token, .number = next_number_}, sent);
  return count;
}

std::size_t MessageConnection::data(std::span<DatagramOut> into, Time now) {
  if (!session_ || into.empty()) return 0;
  std::array<Segment, kMostMessages> segments;
  const std::size_t most = link_.packs ? segments.size() : std::min(into.size(), segments.size());
  std::span<const Segment> rest(segments.data(), session_->output(std::span(segments).first(most)));
  for (const Segment& segment : rest) {
    assert(!segment.in_file());
    if (segment.size() <= link_.delivery.largest_message) continue;
    failed({Stage::send, EMSGSIZE, "a message is larger than a datagram"}, now);
    return 0;
  }
  const bool more_follow = rest.size() == most;
  std::size_t count = 0;
  for (; count < into.size() && !rest.empty(); ++count) {
    DatagramOut& out = into[count];
    const std::size_t messages = write_messages(rest, next_number_ + count, out);
    // The next output() fills this datagram.
    if (link_.packs && more_follow && count > 0 && messages == rest.size()) break;
    std::size_t bytes = 0;
    for (const Segment& segment : rest.first(messages)) bytes += segment.size();
    shown_.push_back({DatagramKind::data, bytes, out.size()});
    rest = rest.subspan(messages);
  }
  return count;
}

// Writes several short messages, each after its size, or a single one. Returns how many.
std::size_t MessageConnection::write_messages(std::span<const Segment> shown, std::uint64_t number,
                                              DatagramOut& out) {
  std::byte* const payload = out.head.data() + DatagramHead::kBytes;
  DatagramHead head{.kind = DatagramKind::data, .token = link_.token, .number = number};
  std::size_t filled = 0, messages = 0;
  for (; link_.packs && messages < shown.size(); ++messages) {
    const Bytes message = shown[messages].bytes;
    if (filled + kPackedSizeBytes + message.size() > kInHead) break;
    write_big_endian(static_cast<std::uint16_t>(message.size()), payload + filled);
    std::memcpy(payload + filled + kPackedSizeBytes, message.data(), message.size());
    filled += kPackedSizeBytes + message.size();
  }
  if (messages > 1) {
    head.packed = true;
    write_datagram(head, {payload, filled}, out);
    return messages;
  }
  const Bytes alone = shown.front().bytes;
  const bool fits = alone.size() <= kInHead;
  if (fits) std::memcpy(payload, alone.data(), alone.size());
  write_datagram(head, fits ? Bytes(payload, alone.size()) : alone, out);
  return 1;
}

void MessageConnection::sent(std::size_t n, Time now) {
  for (const Shown& one : std::span(shown_).first(n)) bytes_sent_ += one.bytes;
  taken(n, now);
}

void MessageConnection::not_sent(std::size_t n, Time now) {
  counts_.not_sent += n;
  taken(n, now);
}

// Takes note of datagrams that were sent or refused. A refused datagram has its number too, so the peer
// counts it as lost.
void MessageConnection::taken(std::size_t n, Time now) {
  assert(n <= shown_.size());
  std::size_t of_session = 0;
  for (const Shown& one : std::span(shown_).first(n)) {
    if (one.kind == DatagramKind::data)
      count_datagram();
    else
      signal_taken(one.kind, now);
    of_session += one.of_session;
  }
  shown_.clear();
  said_ = now;
  if (over_ || !session_) return;
  if (of_session > 0) {
    session_->consumed(of_session);
    session_->released(of_session);
  }
  proceed(now);
}

void MessageConnection::count_datagram() {
  ++next_number_;
  if (is_group()) link_.group->sent = next_number_;
}

void MessageConnection::signal_taken(DatagramKind kind, Time now) {
  switch (kind) {
    case DatagramKind::joined:
      owes_joined_ = false;
      break;
    case DatagramKind::join:
      says_alive_ = false;
      asked_ = now;
      break;
    case DatagramKind::leave:
      says_leave_ = false;
      leave_at_ = link_.delivery.lossy ? now + leave_pause_ : Time::max();
      leave_pause_ = std::min(2 * leave_pause_, kLongestLeavePause);
      break;
    case DatagramKind::left:
      owes_left_ = false;
      ends_at_ = now + limits_.linger;
      if (!link_.delivery.lossy) over_ = true;  // the peer does not ask again
      if (session_) end_session();
      break;
    case DatagramKind::challenge:
    case DatagramKind::data:
      break;
  }
}

}  // namespace joust
