// SPDX-License-Identifier: MIT
#include "connection/message_connection.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;

// The longest delay with which datagrams may arrive after the peer's `leave`, though they were sent before
// it.
constexpr Duration kLate = milliseconds(20);
constexpr Duration kFirstLeavePause = milliseconds(20);

// The shortest idle limit of a server that a client's keep-alives respect.
constexpr Duration kLeastIdle = milliseconds(100);

// Returns whether the peer no longer exists, so that it cannot be notified.
bool is_gone(int error) {
  return error == ECONNRESET || error == EHOSTUNREACH;
}

using std::chrono::milliseconds;

constexpr std::size_t kMostMessages = 64;  // in one output()
constexpr std::size_t kInHead = kPlainDatagram - DatagramHead::kBytes;
constexpr Duration kLongestLeavePause = milliseconds(200);

}  // namespace

MessageConnection::MessageConnection(std::unique_ptr<Session> session, const MessageLink& link,
                                     const Limits& limits, Tally& tally, Time now)
    : session_(std::move(session)),
      link_(link),
      limits_(limits),
      tally_(tally),
      heard_(now),
      said_(now),
      asked_(now),
      owes_joined_(link.side == MessageLink::Side::server) {
  session_->on_open(now);
  if (!is_group()) tally_.opened.fetch_add(1, std::memory_order_relaxed);  // not counted if on_open() throws
  proceed(now);
}

MessageConnection::~MessageConnection() {
  if (session_) end_session();
  counts_.expected = numbers_.expected();
  counts_.received = numbers_.received();
  counts_.lost = numbers_.missing();
  if (group_) {
    counts_.expected += group_->numbers.expected();
    counts_.received += group_->numbers.received();
    counts_.lost += group_->numbers.missing();
  }
  tally_.add(counts_);
  tally_.received.fetch_add(bytes_received_, std::memory_order_relaxed);
  tally_.sent.fetch_add(bytes_sent_, std::memory_order_relaxed);
}

// Counts the session's complaint, unless a failure was counted.
void MessageConnection::end_session() {
  if (!counted_ && !session_->complaint().empty()) tally_.violated(session_->complaint());
  session_.reset();
  held_.clear();
}

void MessageConnection::received(const Datagram& datagram, Time now) {
  if (link_.plain) return on_plain(datagram.payload, now);
  const DatagramHead& head = datagram.head;
  const bool to_server = head.kind == DatagramKind::join;
  const bool to_client = head.kind == DatagramKind::joined || head.kind == DatagramKind::challenge;
  const bool misdirected = is_client() ? to_server : to_client;
  if ((head.token != link_.token && !is_of_group(head)) || misdirected) {
    ++counts_.foreign;
    return;
  }
  // The bytes of a join are not the client's either: it had no connection yet.
  if (head.kind != DatagramKind::join || head.keep_alive)
    bytes_received_ += DatagramHead::kBytes + datagram.payload.size();
  if (over_) return;
  heard_ = now;
  switch (head.kind) {
    case DatagramKind::join:
      owes_joined_ = session_ != nullptr;
      break;
    case DatagramKind::joined:
      on_joined(datagram);
      break;
    case DatagramKind::challenge:
      break;  // repeated on the way; a server that has lost the connection sends `left`
    case DatagramKind::data:
      on_data(datagram, now);
      break;
    case DatagramKind::leave:
      on_leave(datagram, now);
      break;
    case DatagramKind::left:
      on_left(datagram, now);
      break;
  }
  proceed(now);
}

// Takes the server's data. A repeated `joined` has no new data.
void MessageConnection::on_joined(const Datagram& datagram) {
  const milliseconds said(std::min<std::uint64_t>(datagram.head.number, 1U << 31));
  idle_of_peer_ = std::max<Duration>(said, kLeastIdle);
  if (!group_ && !datagram.payload.empty()) group_ = std::make_unique<HeardGroup>(datagram.payload);
}

void MessageConnection::on_data(const Datagram& datagram, Time now) {
  using Arrival = ReceivedNumbers::Arrival;
  const bool of_group = is_of_group(datagram.head);
  if (of_group && group_->is_earlier(datagram.head)) return;
  const std::uint64_t number = of_group ? group_->number_of(datagram.head) : datagram.head.number;
  ReceivedNumbers& numbers = of_group ? group_->numbers : numbers_;
  const Arrival arrival = numbers.look_at(number);
  if (arrival == Arrival::absurd) {
    ++counts_.foreign;
    return;
  }
  if (arrival == Arrival::duplicate) {
    ++counts_.duplicated;
    return;
  }
  if (!session_ || told_finished_) return;  // it counts as lost: no session takes it
  // If nothing is lost on the way, only an error of the other side explains the gap.
  if (!link_.delivery.lossy && number != numbers.received())
    return failed({Stage::receive, EPROTO, "a message is missing"}, now);
  if (!makes_room(datagram.payload.size(), now)) return;
  numbers.add(number);
  if (arrival == Arrival::late) ++counts_.out_of_order;
  Bytes payload = datagram.payload;
  while (const auto message = take_message(datagram.head, payload)) deliver(*message, now);
}

// Handles a datagram of a server that is not of this library. The session alone knows which ones are missing.
void MessageConnection::on_plain(Bytes message, Time now) {
  bytes_received_ += message.size();
  if (over_ || !session_) return;
  heard_ = now;
  if (makes_room(message.size(), now)) {
    numbers_.add(numbers_.received());
    deliver(message, now);
  }
  proceed(now);
}

// Data that the session does not want now is held for it, up to a limit. Beyond the limit the datagram is
// lost: returns false. If no datagram may be lost, the connection fails.
bool MessageConnection::makes_room(std::size_t bytes, Time now) {
  held_.offer(*session_, now);
  if (held_.has_room(bytes, limits_.read_bytes_per_turn)) return true;
  if (!link_.delivery.lossy)
    failed({Stage::receive, ENOBUFS, "messages came faster than the session took them"}, now);
  else
    tally_.note("datagrams were dropped: a session took them more slowly than they came");
  return false;
}

void MessageConnection::deliver(Bytes message, Time now) {
  if (!session_ || told_finished_) return;
  if (held_.empty() && session_->want() != Want::nothing)
    session_->on_bytes(message, now);
  else if (!session_->finished())
    held_.push(message);
}

// Takes the other side's final count of its datagrams, and of those of its group.
void MessageConnection::announce(const Datagram& datagram) {
  if (datagram.head.unknown) return;
  numbers_.announce(datagram.head.number);
  if (group_ && !datagram.payload.empty()) group_->announce(datagram.payload);
}

void MessageConnection::on_leave(const Datagram& datagram, Time now) {
  announce(datagram);
  if (!session_) owes_left_ = true;  // the answer was lost
  if (!std::exchange(peer_left_, true)) finishes_at_ = now + kLate;
}

// Handles the answer to this side's `leave`, also if the other side's `leave` came in between, or the end of
// a connection that the other side has lost. A group's datagrams come by another socket, and may be read
// after it.
void MessageConnection::on_left(const Datagram& datagram, Time now) {
  announce(datagram);
  if (leaving_ || owes_left_ || !session_) {
    answered_ = group_ && group_->numbers.missing() > 0;
    over_ = !answered_;
    ends_at_ = std::min(ends_at_, now + kLate);
    says_leave_ = false;
    return;
  }
  failed({Stage::receive, ECONNRESET, "the peer does not know this connection"}, now);
}

void MessageConnection::failed(const Failure& failure, Time now) {
  if (over_) return;
  over_ = true;
  if (!session_) return;
  if (!is_gone(failure.error)) break_off();
  // A protocol error by the peer takes precedence over a later failure of the connection.
  if (session_->complaint().empty()) {
    counted_ = true;
    tally_.failed(failure);
  }
  session_->on_failure(failure, now);
}

// Ends the connection. The end of a stream notifies the other side by itself.
void MessageConnection::break_off() {
  over_ = true;
  broken_off_ = link_.side == MessageLink::Side::server;
}

bool MessageConnection::session_shows() const {
  Segment first;
  return session_ && session_->output({&first, 1}) > 0;
}

// Takes the consequences of each input from the session's present answers.
void MessageConnection::proceed(Time now) {
  if (over_ || !session_) return;
  held_.offer(*session_, now);
  if (drains_ && held_.empty()) {
    drains_ = false;
    session_->on_drain(now);
  }
  if (answered_ && missing() == 0) over_ = true;
  const bool all_here = missing() == 0 || now >= finishes_at_;
  if (peer_left_ && !told_finished_ && held_.empty() && all_here) {
    told_finished_ = true;
    session_->on_peer_finished(now);
  }
  if (session_->gives_up()) return break_off();
  if (!session_->finished() || session_shows()) return;
  if (is_group() || link_.plain) {
    over_ = true;
  } else if (peer_left_) {
    owes_left_ = true;
    leaving_ = says_leave_ = false;
  } else if (!std::exchange(leaving_, true)) {
    says_leave_ = true;
    leave_pause_ = kFirstLeavePause;
    ends_at_ = now + limits_.linger;
  }
}

void MessageConnection::on_time(Time now) {
  if (over_) return;
  if (now >= ends_at_) over_ = true;  // all was sent, and the peer had time to answer
  if (over_ || !session_) return;
  if (const auto due = session_->deadline(); due && now >= *due) session_->on_deadline(now);
  proceed(now);
  if (leaving_ && !answered_ && now >= leave_at_) says_leave_ = true;
  if (now >= asks_at()) says_alive_ = true;
  if (!over_ && !is_group() && now >= heard_ + limits_.idle)
    failed({Stage::timeout, 0, "nothing came for the idle limit of " + format_duration(limits_.idle)}, now);
}

void MessageConnection::drain(Time now) {
  if (over_ || !session_) return;
  drains_ = true;
  proceed(now);
}

void MessageConnection::refresh(Time now) {
  if (over_ || !session_) return;
  session_->on_published(now);
  proceed(now);
}

// Returns when a client sends a keep-alive. One that sends data but receives nothing asks too: the answer
// proves that the server exists. A side would give up after three pauses, so two keep-alives may be lost.
Time MessageConnection::asks_at() const {
  if (!is_client() || leaving_ || link_.plain) return Time::max();
  const Duration pause = std::max<Duration>(std::min(idle_of_peer_, limits_.idle) / 4, milliseconds(1));
  return std::max(std::min(said_, heard_), asked_) + pause;
}

std::optional<Time> MessageConnection::deadline() const {
  if (over_) return std::nullopt;
  Time due = ends_at_;
  if (!session_) return due;
  if (leaving_ && !says_leave_ && !answered_) due = std::min(due, leave_at_);
  if (peer_left_ && !told_finished_ && held_.empty()) due = std::min(due, finishes_at_);
  if (!says_alive_) due = std::min(due, asks_at());
  if (!is_group()) due = std::min(due, heard_ + limits_.idle);
  return std::min(due, session_->deadline().value_or(Time::max()));
}

// The output.

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
  const std::size_t most = link_.packs ? kMostMessages : std::min(into.size(), kMostMessages);
  // The fast path: most outputs are one message. The array for many costs its initialization with zeros.
  std::array<Segment, 2> few;
  const std::span<Segment> first = std::span(few).first(std::min(most, few.size()));
  if (const std::size_t shown = session_->output(first); shown < few.size())
    return write_data(first.first(shown), shown == most, into, now);
  std::array<Segment, kMostMessages> many;
  const std::size_t shown = session_->output(std::span(many).first(most));
  return write_data(std::span(many).first(shown), shown == most, into, now);
}

// `more_follow`: the session may have more output than is shown.
std::size_t MessageConnection::write_data(std::span<const Segment> rest, bool more_follow,
                                          std::span<DatagramOut> into, Time now) {
  for (const Segment& segment : rest) {
    assert(!segment.in_file());
    if (segment.size() <= link_.delivery.largest_message) continue;
    failed({Stage::send, EMSGSIZE, "a message is larger than a datagram"}, now);
    return 0;
  }
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
  if (link_.plain) {
    out.head_size = 0;
    out.tail = shown.front().bytes;
    return 1;
  }
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
