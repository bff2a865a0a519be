// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "joust/engines.hpp"
#include "joust/limits.hpp"
#include "joust/load_plan.hpp"
#include "joust/protocol.hpp"
#include "joust/socket_options.hpp"

namespace joust {

// What a client shall do.
struct ClientOptions {
  std::string engine = "epoll";  // a name of list_engines()
  std::string connect{};         // HOST:PORT, [IPV6]:PORT or unix:PATH; empty for engines without sockets
  LoadPlan load{};               // how many connections, and what each of them does
  std::size_t payload = 32;      // bytes of one message, without framing
  unsigned threads = 1;          // event loops, for engines that have several
  Wait wait = Wait::block;
  Settings knobs{};    // of the engine; those not named have their defaults
  Settings options{};  // of the protocol, likewise
  Limits limits{};
  SocketOptions socket{};
};

// From the moment at which a request was meant to be sent to its verified reply. A percentile beyond which
// lie fewer than 10 replies says nothing and is left out.
struct Latencies {
  Duration min{}, mean{}, max{};
  std::optional<Duration> p50{}, p90{}, p99{}, p99_9{};
};

// What the connections of a client came to. Messages and latencies are those of the timed window.
struct ClientResult {
  std::uint64_t connections_opened = 0;
  std::uint64_t connections_failed = 0;  // not opened, or ended by a failure
  std::uint64_t messages_sent = 0;       // requests; sent = verified + failed + in flight
  std::uint64_t messages_verified = 0;   // replies found right
  std::uint64_t messages_failed = 0;
  std::uint64_t messages_in_flight = 0;  // not answered yet when the window closed
  std::uint64_t bytes_sent = 0;          // of the whole run
  std::uint64_t bytes_received = 0;      // of the whole run
  Duration window{};                     // as long as it was; 0 when it never opened
  double messages_per_s = 0;             // verified, in the window
  Latencies latencies{};
  bool interrupted = false;                       // by the stop token
  std::array<std::uint64_t, kStages> failures{};  // connections, by Stage
  std::vector<std::string> complaints{};          // the first few failures that differ, for people
  std::vector<std::string> notes{};               // events that slowed the client down, for people
  std::vector<ResultGroup> groups{};              // what the protocol has counted

  // True when every connection stood to its end and every request was answered rightly or is in flight.
  bool clean() const { return connections_failed == 0 && messages_failed == 0 && !interrupted; }
};

// The client side of a protocol inside a program of one's own: dials as many connections as the plan says and
// lets the protocol's client sessions talk, until they have finished.
class Client {
 public:
  // Resolves the address; connects nothing. Throws std::invalid_argument for options that cannot be, and
  // std::runtime_error for an engine that this machine cannot run or a name that nobody knows; both say what
  // is wrong and what to do, as the command line does.
  explicit Client(Protocol protocol, ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Works on the calling thread until all connections have ended or `stop` is requested; then requests that
  // have been sent are still answered, within limits.drain. Any thread, again and again, one at a time.
  // Failures of connections are in the result. Throws std::system_error when the machine refuses what the
  // engine cannot do without.
  ClientResult run(std::stop_token stop = {});

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace joust
