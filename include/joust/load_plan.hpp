// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "joust/time.hpp"

namespace joust {

// The client's traffic. Without a rate a load is closed: a connection sends its next request when a reply has
// freed a slot. With a rate it is an open loop: requests are due by a schedule that no reply changes, and
// latency counts from the time at which a request was due.
struct LoadPlan {
  // The gaps between the requests of one connection in an open loop: all equal, or exponentially distributed,
  // so that the arrivals of all connections together are a Poisson process.
  enum class Arrivals : std::uint8_t { constant, poisson };
  // When the connections begin their schedules: spread over the interval, or all at the same instant.
  enum class Phase : std::uint8_t { spread, together };
  // Whether a connection that fails to open, is reset, is closed early or gets no reply is dialled again.
  enum class Reconnect : std::uint8_t { never, always };

  std::uint64_t connections = 1;
  std::optional<std::uint64_t> payload{};  // bytes of a message, without framing; empty: the standard 32
  // Messages of each connection in the timed window; then the load ends. If empty, `duration` ends the load.
  std::optional<std::uint64_t> messages{};
  // Messages of one connection: the client ends it after so many replies, and dials another one in its place
  // at once. If empty, connections last. Streams only.
  std::optional<std::uint64_t> messages_per_connection{};
  Duration duration = std::chrono::seconds(10);  // length of the timed window
  Duration warmup{};                             // time before the window: the same traffic, not recorded
  Duration interval{};    // between requests of one connection; 0: the next is sent when a slot is free
  double rate_per_s = 0;  // requests of all connections together; 0: a closed loop. Excludes an interval.
  // (With a rate only.) Empty: as of users, by a Poisson process; constant where all send together.
  std::optional<Arrivals> arrivals{};
  Phase phase = Phase::spread;  // (with an interval or a rate only)
  std::uint64_t seed = 0;       // seed of Poisson arrivals
  // Requests of a connection that are due together; the next ones follow after as many intervals. (With an
  // interval or a rate only.)
  std::uint64_t burst = 1;
  std::uint64_t depth = 1;  // slots: requests outstanding on one connection
  // After this time without a reply the connection has failed. Where delivery is lossy, the request is lost,
  // and the connection goes on. Empty: 5 s, or 1 s where delivery is lossy.
  std::optional<Duration> request_timeout{};
  // The connections rest, and send only in the turns that LoadRun::begin_turn() starts; messages, duration
  // and warmup are not used. For protocols that take turns (Protocol::takes_turns).
  bool turns = false;
  bool counted_turns = false;  // each turn is a number of messages of each connection, not a time
  // For protocols whose connections may begin again (Protocol::no_reconnect).
  Reconnect reconnect = Reconnect::never;
  Duration backoff_least = std::chrono::milliseconds(50);  // the longest first pause before a dial
  Duration backoff_most = std::chrono::seconds(1);         // it doubles from attempt to attempt up to this
  // The time without a reply after which a connection is given up; 0: warmup and duration together. At the
  // end of the timed window all connections without a reply are given up.
  Duration reconnect_for{};
  // Every connection is inside TLS 1.2 or 1.3, for servers that have a certificate. It is open for the load
  // when the handshake is over. Streams only.
  bool tls = false;
  std::string tls_ca{};       // (with tls) a PEM file of trusted certificates; empty: the system's
  std::string tls_name{};     // (with tls) the server's name or IP address; empty: the host that is dialled
  bool tls_insecure = false;  // (with tls) any certificate will do

  // The place of these connections in a load of several hosts: the number of the first one, and the number of
  // all; 0: there are no others. The rate is that of these connections.
  std::uint64_t first_connection = 0, all_connections = 0;

  // Returns the number of connections of all hosts together.
  std::uint64_t of_all_hosts() const { return all_connections == 0 ? connections : all_connections; }
  // Returns the length of the timed window, if it does not end after a number of messages.
  std::optional<Duration> window() const { return messages ? std::nullopt : std::optional(duration); }
  bool reconnects() const { return reconnect == Reconnect::always; }
  bool open_loop() const { return rate_per_s > 0; }
  // Returns the arrivals, those that are given or the usual ones; nothing in a closed loop.
  std::optional<Arrivals> known_arrivals() const {
    if (!open_loop()) return std::nullopt;
    return arrivals.value_or(phase == Phase::spread ? Arrivals::poisson : Arrivals::constant);
  }
  bool has_poisson_arrivals() const { return known_arrivals() == Arrivals::poisson; }
  bool has_schedule() const { return open_loop() || interval != Duration{}; }
  // Returns the average time between two requests of one connection.
  std::chrono::duration<double, std::nano> mean_interval() const {
    if (open_loop()) return std::chrono::duration<double>(static_cast<double>(connections) / rate_per_s);
    return interval;
  }
  // Returns the average time between two bursts of one connection.
  std::chrono::duration<double, std::nano> mean_gap() const {
    return mean_interval() * static_cast<double>(burst);
  }
};

}  // namespace joust
