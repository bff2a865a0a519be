// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "joust/time.hpp"
#include "net/address.hpp"
#include "net/socket_options.hpp"

namespace joust {

// The state of a TCP listener's accept queue, in connections, as the kernel reports it. Empty where it does
// not.
struct AcceptQueue {
  std::optional<std::size_t> length;  // now
  std::optional<int> backlog;         // granted
};

AcceptQueue accept_queue(int listener);

// The result of an accept. `busy` means that the machine is short of descriptors or memory: waiting peers
// stay in the queue, and accepting again at once would only spin (accept(2)).
enum class AcceptOutcome : std::uint8_t { accepted, none, busy };

struct Accepted {
  AcceptOutcome outcome;
  Fd socket;
};

// Classifies an errno. EMFILE, ENFILE, ENOBUFS and ENOMEM are busy. EINTR and the errors of a peer that has
// aborted its connection (ECONNABORTED, EPROTO and the like) are none. Other errors are not caused by peers,
// and are thrown as std::system_error.
AcceptOutcome accept_outcome(int error);

// The remark in the results while peers are left in the accept queue.
inline constexpr std::string_view kAcceptingPaused =
    "accepting paused: out of descriptors or memory, or at the connection limit";
// The same remark for engines where each connection has a thread.
inline constexpr std::string_view kAcceptingPausedForThreads =
    "accepting paused: out of descriptors, memory or threads, or at the connection limit";
// The remark when take_queued() has left peers in the queue.
inline constexpr std::string_view kLeftInQueue =
    "the stop reset peers in the accept queue: out of time, descriptors or memory, or at the connection "
    "limit";

// A bound, non-blocking socket with the scenario's options. A stream socket listens, and one thread accepts.
// A datagram socket has neither connections nor a queue of them: peers send to fd().
class Listener {
 public:
  // `only_ipv6`: leaves the IPv4 addresses to another socket. Without it, a socket of every IPv6 address is
  // one of every IPv4 address too on Linux.
  Listener(const Endpoint& endpoint, const SocketOptions& options, Transport transport = Transport::stream,
           bool only_ipv6 = false);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return socket_.get(); }
  std::string address() const;  // the bound address, with the port that the kernel chose
  const Endpoint& endpoint() const { return bound_; }
  const SocketOptions& options() const { return options_; }

  // Accepts one connection from the queue, close-on-exec, and SOCK_NONBLOCK if `flags` have it. Aborted
  // connections are skipped: `none` means that the queue is empty.
  Accepted accept(int flags) const;

  // Accepts for the last time in a server that stops: `take(Fd)` gets the connections that are in the queue
  // now, at most `room` of them, until `until`. Later peers are refused, so they cannot delay the end.
  // Returns false if connections had to be left in the queue, for want of room or time or because the machine
  // is busy. Call close() afterwards.
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

  // Makes another socket with the same address and options; one for streams listens too. The kernel then
  // distributes the peers by their addresses (SO_REUSEPORT). Not for unix sockets. Throws std::system_error.
  Fd sibling() const;
  // Datagrams only: makes a socket with the same options for another address. Throws std::system_error.
  Fd beside(const Endpoint& where) const;

  // Refuses further peers. Peers still in the queue are reset.
  void close();

  // Returns the options, read from the kernel, of the first accepted connection, or of the listener before
  // that.
  SocketFacts facts() const;
  bool has_accepted() const;
  void note_facts(int connection) const;  // keeps the facts of the first connection only
  void note_facts(const SocketFacts& facts) const;

 private:
  void claim(const Endpoint& endpoint) const;
  void bind_to(const Endpoint& endpoint) const;
  Fd bind_beside(Fd socket, const Endpoint& where) const;
  std::size_t close_queue();
  bool is_queue_empty() const;
  void unlink_path();

  SocketOptions options_;
  Transport transport_;
  Fd socket_;
  Endpoint bound_;
  std::size_t longest_queue_;                    // connections
  std::optional<std::pair<dev_t, ino_t>> file_;  // device and inode of a unix socket, until it is removed
  mutable std::mutex mutex_;
  mutable std::optional<SocketFacts> facts_;
  SocketFacts own_facts_;
};

// The listeners of one server: one for each address of its name, all with the same port.
class Listeners {
 public:
  // Listens on all `endpoints`. If their port is 0, listens on a port that is free on all of them. Addresses
  // that this machine does not have are left out as long as it has one of them (IPv6 is often switched off in
  // containers). Throws std::system_error if an address is refused for another reason, or if the machine has
  // none of them.
  Listeners(std::span<const Endpoint> endpoints, const SocketOptions& options,
            Transport transport = Transport::stream);

  std::span<Listener* const> all() const { return all_; }  // never empty
  std::vector<std::string> addresses() const;              // in the order of all(), with the port
  const std::vector<std::string>& left_out() const { return left_out_; }  // with the reason, for people

  // Returns the options, read from the kernel, of an accepted connection, or of the first listener before
  // that.
  SocketFacts facts() const;

 private:
  void open_all(std::span<const Endpoint> endpoints, const SocketOptions& options);
  void open(const Endpoint& endpoint, const SocketOptions& options);

  Transport transport_;
  std::vector<std::unique_ptr<Listener>> owned_;
  std::vector<Listener*> all_;
  std::vector<std::string> left_out_;
  std::exception_ptr refusal_;  // the refusal of the first address that was left out
};

}  // namespace joust
