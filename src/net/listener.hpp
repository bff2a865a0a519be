// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.hpp"
#include "joust/time.hpp"
#include "net/address.hpp"
#include "net/socket_options.hpp"
#include "net/transport.hpp"

namespace joust {

// What an accept came to. `busy` means the machine is short of descriptors or memory: those waiting stay in
// the queue, and asking again at once would only spin (accept(2)).
enum class AcceptOutcome : std::uint8_t { accepted, none, busy };

struct Accepted {
  AcceptOutcome outcome;
  Fd socket;
};

// EMFILE, ENFILE, ENOBUFS and ENOMEM are busy; EINTR and the errors of a peer that has gone again
// (ECONNABORTED, EPROTO and the like) are none; others are not the peers' doing and are thrown as
// std::system_error.
AcceptOutcome accept_outcome(int error);

// What the results say while peers are left in the accept queue,
inline constexpr std::string_view kAcceptingPaused =
    "accepting paused: out of descriptors or memory, or at the connection limit";
// where each connection has a thread,
inline constexpr std::string_view kAcceptingPausedForThreads =
    "accepting paused: out of descriptors, memory or threads, or at the connection limit";
// and when take_queued() has left somebody in the queue.
inline constexpr std::string_view kLeftInQueue =
    "the stop reset peers in the accept queue: out of time, descriptors or memory, or at the connection "
    "limit";

// A bound, non-blocking socket with the scenario's options. A stream socket listens, and one thread accepts.
// A datagram socket has neither connections nor a queue of them: fd() is what peers send to.
class Listener {
 public:
  // `only_ipv6`: on Linux a socket of every IPv6 address is one of every IPv4 address too, unless it leaves
  // them to another one.
  Listener(const Endpoint& endpoint, const SocketOptions& options, Transport transport = Transport::stream,
           bool only_ipv6 = false);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return socket_.get(); }
  std::string address() const;  // as bound: with the port the kernel chose
  const Endpoint& endpoint() const { return bound_; }
  const SocketOptions& options() const { return options_; }

  // One connection off the queue, close-on-exec, and SOCK_NONBLOCK where `flags` say so. Peers that have gone
  // again are passed over: `none` means that the queue is empty.
  Accepted accept(int flags) const;

  // The last accepting of a server that stops: `take(Fd)` gets the connections that are in the queue now, at
  // most `room` of them, until `until`. Peers that come later are not let in, so they cannot put off the end.
  // Returns false when connections had to be left there, for want of room or time or because the machine is
  // busy. close() is to follow.
  template <typename Take>
  bool take_queued(int flags, std::size_t room, Time until, Take&& take) {
    for (std::size_t queued = close_queue(); queued > 0; --queued) {
      if (room-- == 0 || Clock::now() >= until) return is_queue_empty();
      Accepted accepted = accept(flags);
      if (accepted.outcome != AcceptOutcome::accepted) return accepted.outcome == AcceptOutcome::none;
      take(std::move(accepted.socket));
    }
    return true;
  }

  // Datagrams: another socket with the same address and options. The kernel then shares the peers out by
  // their addresses (SO_REUSEPORT). Throws std::system_error.
  Fd sibling() const;
  // Datagrams: a socket with the same options for another address. Throws std::system_error.
  Fd beside(const Endpoint& where) const;

  // Refuses further peers. Those still in the queue are reset.
  void close();

  // What the kernel says of the first connection accepted, or of the listener while there was none.
  SocketFacts facts() const;
  bool has_accepted() const;
  void note_facts(int connection) const;  // keeps those of the first only
  void note_facts(const SocketFacts& facts) const;

 private:
  void claim(const Endpoint& endpoint) const;
  void bind_to(const Endpoint& endpoint) const;
  Fd bind_datagrams(Fd socket, const Endpoint& where) const;
  std::size_t close_queue();
  bool is_queue_empty() const;
  void unlink_path();

  SocketOptions options_;
  Fd socket_;
  Endpoint bound_;
  std::size_t longest_queue_;  // connections
  bool unlinked_ = false;      // a unix socket's path
  mutable std::mutex mutex_;
  mutable std::optional<SocketFacts> facts_;
  SocketFacts own_facts_;
};

}  // namespace joust
