// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "joust/session.hpp"
#include "joust/time.hpp"

namespace joust {

// How a transport delivers bytes: as a stream that may be cut anywhere, or as whole messages of limited size.
struct Delivery {
  enum class Kind : std::uint8_t { stream, message };
  Kind kind = Kind::stream;
  std::size_t largest_message = 0;  // bytes; messages only
  bool lossy = false;  // messages may be lost, repeated, or arrive in another order; messages only

  bool by_message() const { return kind == Kind::message; }
};

// Identifies the network address of a peer, so that a service can limit each address. Connections from one
// IPv4 address have the same value. So have connections from one IPv6 network of 64 bits, because one
// customer usually has a whole network. Ports do not count.
enum class PeerAddress : std::uint64_t {
  unknown = 0,  // unix sockets, sessions joined in one process, and the IPv6 loopback address
};

// An open connection that other objects than its session can end.
class Breakable {
 public:
  virtual ~Breakable() = default;
  virtual void break_off() noexcept = 0;  // ends it soon; any thread, never blocks
};

// The facts about a connection that a service gets when it makes the session.
struct ConnectionInfo {
  Delivery delivery{};
  PeerAddress peer = PeerAddress::unknown;
  // The connection, while it is open. Empty if the server keeps no account of its peers.
  std::weak_ptr<Breakable> connection{};
};

// An event loop that other threads can wake from a sleep in the kernel.
class Wakeable {
 public:
  virtual ~Wakeable() = default;
  virtual void wake() = 0;  // any thread; never blocks
};

// Connects the sessions of one service by a count. A publication increments the count when new output became
// available to all sessions (a message in a room, the start of a load). An engine reads the count after each
// batch of inputs. When it has changed, the engine calls Session::on_published on every session and asks for
// output again. Loops that may sleep subscribe. All methods: any thread.
class Publications {
 public:
  std::uint64_t count() const { return count_.load(std::memory_order_acquire); }
  void announce();  // increments the count and wakes all loops; also from a signal handler, if wake() may
  void subscribe(Wakeable& loop);  // borrowed until unsubscribed
  void unsubscribe(Wakeable& loop);

 private:
  void wake_all();

  std::atomic<std::uint64_t> count_{0};
  std::atomic<bool> unheard_{false};  // an announcement found the list locked
  std::mutex mutex_;
  std::vector<Wakeable*> loops_;
};

// A named group of figures that a service has counted, for the results: deliveries {expected, received,
// lost}. Names are JSON keys and end with the unit.
struct ResultGroup {
  using Figure = std::variant<std::uint64_t, double, std::string>;
  std::string name;
  std::vector<std::pair<std::string, Figure>> figures;
  std::string about{};  // what the figures cover, in words, if not the timed window
};

// A connection that is to be dialled in place of one that has ended.
struct Redial {
  Time at;                   // the earliest time
  Time until = Time::max();  // a connect that takes longer is useless
};

// Makes the sessions of one protocol and holds their shared state: a room, a directory, a load's schedule.
// Must outlive its sessions.
class Service {
 public:
  virtual ~Service() = default;

  // Makes the session of an open connection. Any thread, also concurrently. If it throws, the connection is
  // closed and counted as failed.
  virtual std::unique_ptr<Session> open(const ConnectionInfo& info) = 0;

  // A connection could not be dialled or accepted. Any thread, also concurrently.
  virtual void not_opened(const Failure& /*failure*/, Time /*now*/) {}

  // Returns whether another connection is to be dialled in place of one that has ended or could not be
  // opened. Engines that dial call it then, at the time of an earlier answer, and when the publication count
  // has changed. If further connections may be dialled later, they call it from the start on. A time up to
  // `now` is an order: open() or not_opened() follows, unless the program stops. A later time asks for
  // another call at that time. No time means that none is to be dialled. The answers are the same for all
  // connections, so an engine counts the ended ones, and stores nothing else of them. Any thread, also
  // concurrently.
  virtual std::optional<Redial> redial(Time /*now*/) { return std::nullopt; }

  // Makes a session without input whose output is for all peers, if the transport can send to a group of all
  // peers at once. While it exists, other sessions leave that output to it. Called at most once, before the
  // first open(). Null if the service has no output that is the same for all.
  virtual std::unique_ptr<Session> open_group(const Delivery& /*delivery*/) { return nullptr; }

  // Returns the count of publications. Null if the service's sessions never affect one another. Owned by the
  // service; the answer never changes.
  virtual Publications* publications() { return nullptr; }

  // Returns the service's counts. Called after the run, when no session is left.
  virtual std::vector<ResultGroup> results() const { return {}; }
};

}  // namespace joust
