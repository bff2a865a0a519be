// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "base/memory.hpp"
#include "base/sequence_window.hpp"
#include "connection/datagram.hpp"
#include "connection/tally.hpp"
#include "joust/limits.hpp"
#include "joust/service.hpp"
#include "joust/session.hpp"

namespace joust {

// Records which of a peer's datagrams have been received, by their numbers 0, 1, 2 ...: missing, duplicate
// and late ones. Exact for numbers within kWindow of the highest one; an older number counts as a duplicate.
// One thread.
class ReceivedNumbers {
 public:
  static constexpr std::uint64_t kWindow = 1024;
  // The longest plausible gap. A connection does not survive a greater loss, so a greater number is an error
  // or an attack.
  static constexpr std::uint64_t kLongestGap = 1 << 24;

  enum class Arrival : std::uint8_t { next, late, duplicate, absurd };
  Arrival look_at(std::uint64_t number) const {
    if (number > window_.next() && number - window_.next() > kLongestGap) return Arrival::absurd;
    switch (window_.look_at(number)) {
      case Window::Order::in_order:
        return Arrival::next;
      case Window::Order::out_of_order:
        return Arrival::late;
      case Window::Order::repeated:
        break;
    }
    return Arrival::duplicate;
  }

  // Adds a number that is `next` or `late`.
  void add(std::uint64_t number) {
    window_.add(number);
    ++received_;
  }

  // Takes the peer's final count. A count that no loss explains is ignored.
  void announce(std::uint64_t all) {
    if (all > window_.next() && all - window_.next() <= kLongestGap) announced_ = std::max(announced_, all);
  }

  std::uint64_t received() const { return received_; }
  std::uint64_t expected() const { return std::max(window_.next(), announced_); }
  std::uint64_t missing() const { return expected() - received_; }

 private:
  using Window = SequenceWindow<kWindow>;

  Window window_;
  std::uint64_t received_ = 0;
  std::uint64_t announced_ = 0;
};

// A server's output that is sent once for all its peers, if the transport can do it: datagrams of data with a
// token and with numbers of their own. A client receives the token and the next number when it is admitted,
// and at the end the count of these datagrams.

// The group on the server's side.
struct MessageGroup {
  std::uint64_t token = 0;
  std::uint64_t sent = 0;  // datagrams so far
  bool drains = false;  // its last datagrams are being sent: `leave` and `left`, which have the count, wait

  std::array<std::byte, kGroupPlaceBytes> place() const {
    std::array<std::byte, kGroupPlaceBytes> bytes;
    write_big_endian(token, bytes.data());
    write_big_endian(sent, bytes.data() + kGroupPlaceBytes - kGroupCountBytes);
    return bytes;
  }
};

// The group on a client's side. Datagrams sent before the client was admitted do not count.
class HeardGroup {
 public:
  explicit HeardGroup(Bytes place)
      : token_(read_big_endian<std::uint64_t>(place.data())),
        first_(read_big_endian<std::uint64_t>(place.data() + kGroupPlaceBytes - kGroupCountBytes)) {}

  bool sends(const DatagramHead& head) const {
    return head.kind == DatagramKind::data && head.token == token_;
  }
  bool is_earlier(const DatagramHead& head) const { return head.number < first_; }
  std::uint64_t number_of(const DatagramHead& head) const { return head.number - first_; }
  void announce(Bytes count) {
    const auto all = read_big_endian<std::uint64_t>(count.data());
    if (all > first_) numbers.announce(all - first_);
  }

  ReceivedNumbers numbers;

 private:
  std::uint64_t token_, first_;
};

// Messages that a session did not want when they came, in their order. One thread.
class HeldMessages {
 public:
  bool empty() const { return messages_.empty(); }
  // Returns whether one more message of so many bytes stays within the limit.
  bool has_room(std::size_t bytes, std::size_t most) const {
    return messages_.empty() || bytes_ + bytes <= most;
  }
  void push(Bytes message) {
    messages_.emplace_back(message.begin(), message.end());
    bytes_ += message.size() + kBesides;
  }
  // Passes on what the session wants now.
  void offer(Session& session, Time now) {
    while (!messages_.empty() && session.want() != Want::nothing) {
      bytes_ -= messages_.front().size() + kBesides;
      session.on_bytes(messages_.front(), now);
      messages_.pop_front();
    }
  }
  void clear() { messages_.clear(); }

 private:
  static constexpr std::size_t kBesides = 64;  // the least memory that a message takes beside its bytes

  std::deque<std::vector<std::byte>> messages_;
  std::size_t bytes_ = 0;
};

// The facts about a connection that both sides have agreed on.
struct MessageLink {
  // `group`: a server's output for all its peers at once, without input.
  enum class Side : std::uint8_t { server, client, group };
  Side side = Side::server;
  std::uint64_t token = 0;
  Delivery delivery{.kind = Delivery::Kind::message,
                    .largest_message = kLargestDatagram - DatagramHead::kBytes};
  bool packs = false;  // several whole messages in a datagram
  bool plain = false;  // a client's: datagrams are messages without a header, and there are no signals
  MessageGroup* group = nullptr;  // the server's group, if it has one; the side `group` counts in it
};

// Joins a session to one peer over datagrams: the part that all engines of messages have in common. It makes
// no system call. Its owner finds it by the peer's address, reports events to it, and asks it for the next
// step:
//
//   received()      a datagram of this peer, parsed
//   output()        what shall I send?             then sent() or not_sent()
//   ended()         is it over? then destroy
//   deadline()      when to call on_time()
//
// Only the end of a connection is sent repeatedly. A side whose session has finished and whose output is sent
// repeats `leave` with its count until the other side sends `left` with its own count, or until
// limits.linger. If nothing is lost on the way, it sends `leave` once. The other side answers once its
// session has finished too. Until then the connection is half-closed, as a stream can be. After its answer
// the other side stays for limits.linger, to answer again if the answer was lost (not if nothing is lost on
// the way). Its session has ended by then. A client that has nothing to send sends keep-alives before the
// server's idle limit. The output of a group ends with its session. One thread at a time.
class MessageConnection {
 public:
  MessageConnection(std::unique_ptr<Session> session, const MessageLink& link, const Limits& limits,
                    Tally& tally, Time now);
  ~MessageConnection();
  MessageConnection(const MessageConnection&) = delete;
  MessageConnection& operator=(const MessageConnection&) = delete;

  // Inputs
  // Takes the payload alone of a plain link.
  void received(const Datagram& datagram, Time now);
  void sent(std::size_t n, Time now);      // the first n datagrams of the last output()
  void not_sent(std::size_t n, Time now);  // datagrams that were refused, and are dropped
  void failed(const Failure& failure, Time now);
  void on_time(Time now);  // may be called early
  void drain(Time now);
  void refresh(Time now);  // the service's publication count has changed

  // Queries. output() fills in the next datagrams and returns their number. They refer to the session's bytes
  // until the next input.
  std::size_t output(std::span<DatagramOut> into, Time now);
  bool has_output() const;
  bool ended() const { return over_; }
  // Returns whether this side, a server, ended the connection alone: the waiting peer must get the answer for
  // unknown connections.
  bool is_broken_off() const { return broken_off_; }
  // Returns whether only an answer may have to be repeated: this side loses nothing if it ends now.
  bool only_lingers() const { return over_ || (session_ == nullptr && !owes_left_); }
  std::optional<Time> deadline() const;
  std::uint64_t token() const { return link_.token; }
  void prefetch_session() const { prefetch(session_.get(), kMessageMemory); }
  // Returns whether all is sent, and only the other side's last signal is missing.
  bool is_leaving() const { return leaving_; }

 private:
  struct Shown {
    DatagramKind kind;
    std::size_t of_session;  // bytes of its output
    std::size_t bytes;       // bytes in all
  };

  void on_data(const Datagram& datagram, Time now);
  void on_joined(const Datagram& datagram);
  void on_leave(const Datagram& datagram, Time now);
  void on_left(const Datagram& datagram, Time now);
  void announce(const Datagram& datagram);
  void on_plain(Bytes message, Time now);
  void deliver(Bytes message, Time now);
  bool makes_room(std::size_t bytes, Time now);
  void proceed(Time now);
  void end_session();
  void break_off();
  bool session_shows() const;
  Time asks_at() const;
  bool is_client() const { return link_.side == MessageLink::Side::client; }
  bool is_group() const { return link_.side == MessageLink::Side::group; }
  bool waits_for_group() const { return link_.group != nullptr && link_.group->drains; }
  bool is_of_group(const DatagramHead& head) const { return group_ && group_->sends(head); }
  std::uint64_t missing() const { return numbers_.missing() + (group_ ? group_->numbers.missing() : 0); }

  std::size_t data(std::span<DatagramOut> into, Time now);
  std::size_t write_data(std::span<const Segment> rest, bool more_follow, std::span<DatagramOut> into,
                         Time now);
  std::size_t write_messages(std::span<const Segment> shown, std::uint64_t number, DatagramOut& out);
  void taken(std::size_t n, Time now);
  void count_datagram();
  void signal_taken(DatagramKind kind, Time now);

  std::unique_ptr<Session> session_;  // null when only an answer may have to be repeated
  const MessageLink link_;
  const Limits& limits_;
  Tally& tally_;
  ReceivedNumbers numbers_;
  std::unique_ptr<HeardGroup> group_;  // a client's, if the server sends to a group
  DatagramCounts counts_;
  std::uint64_t next_number_ = 0;  // number of the next data to be sent
  std::uint64_t bytes_received_ = 0, bytes_sent_ = 0;
  std::vector<Shown> shown_;  // datagrams shown by the last output()
  HeldMessages held_;
  Time heard_, said_;  // when the last datagram came, and when the last one went
  Time asked_;         // when a client last sent a keep-alive
  Duration idle_of_peer_ = Duration::max();
  bool owes_joined_ = false;  // these four are signals to be sent
  bool owes_left_ = false;
  bool says_leave_ = false;
  bool says_alive_ = false;
  bool leaving_ = false;   // `leave` is repeated
  bool answered_ = false;  // `left` has come, but a group's datagrams are still on their way
  bool peer_left_ = false;
  bool told_finished_ = false;  // the session knows that the peer has finished
  bool drains_ = false;         // the session is to be notified of the stop, after the held messages
  bool counted_ = false;        // counted as a failure
  bool over_ = false;
  bool broken_off_ = false;
  Time leave_at_{};  // when to send `leave` again
  Duration leave_pause_{};
  Time ends_at_ = Time::max();  // end of the wait for the other side's last signal
  Time finishes_at_{};  // when the session is notified that the peer has finished, whatever is missing
};

}  // namespace joust
