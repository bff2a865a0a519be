// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "joust/session.hpp"
#include "joust/time.hpp"

namespace joust {

// How a transport carries bytes: as a stream that may be cut anywhere, or as whole messages of a largest
// size.
struct Delivery {
  enum class Kind : std::uint8_t { stream, message };
  Kind kind = Kind::stream;
  std::size_t largest_message = 0;  // bytes; messages only
};

// Stands for the network address of a peer, so that a service can give each address a fair share.
// Connections from one IPv4 address have the same value, and so have connections from one IPv6 network of 64
// bits, because one customer usually has a whole one. Ports do not count.
enum class PeerAddress : std::uint64_t {
  unknown = 0,  // unix sockets, sessions joined in one process, and the IPv6 loopback address
};

// What a service is told of a connection when it makes the session.
struct Opening {
  Delivery delivery{};
  PeerAddress peer = PeerAddress::unknown;
};

// Something that can be woken from another thread: an event loop asleep in the kernel.
class Wakeable {
 public:
  virtual ~Wakeable() = default;
  virtual void wake() = 0;  // any thread; never blocks
};

// How sessions of one service reach each other: a count that moves when something became visible to all of
// them (a message in a room, the start of a load). An engine asks for the count after each batch of inputs;
// if it moved, every session is told (Session::on_published) and asked for its output again. Loops that may
// be asleep subscribe. All methods: any thread.
class Publications {
 public:
  std::uint64_t count() const { return count_.load(std::memory_order_acquire); }
  void announce();                 // moves the count and wakes all loops
  void subscribe(Wakeable& loop);  // borrowed until unsubscribed
  void unsubscribe(Wakeable& loop);

 private:
  std::atomic<std::uint64_t> count_{0};
  std::mutex mutex_;
  std::vector<Wakeable*> loops_;
};

// What a service has counted beyond messages and bytes, for the results: a named group of figures, such as
// deliveries {expected, received, lost}. Names are JSON keys, with their unit.
struct ResultGroup {
  using Figure = std::variant<std::uint64_t, double, std::string>;
  std::string name;
  std::vector<std::pair<std::string, Figure>> figures;
  std::string about{};  // what all of them are of, for people, where it is not the timed window
};

// Makes the sessions of one protocol and holds what they share: a room, a directory, a load's schedule. It
// outlives its sessions.
class Service {
 public:
  virtual ~Service() = default;

  // A session for a connection that is open. Any thread, several at once. May throw; then the connection is
  // closed and counted as failed.
  virtual std::unique_ptr<Session> open(const Opening& opening) = 0;

  // A connection could not be dialled, or a peer not be accepted. Any thread, several at once.
  virtual void not_opened(const Failure& /*failure*/, Time /*now*/) {}

  // Null for services whose sessions never affect one another. Owned by the service; never changes.
  virtual Publications* publications() { return nullptr; }

  // What was counted. Called after the run, when no session is left.
  virtual std::vector<ResultGroup> results() const { return {}; }
};

}  // namespace joust
