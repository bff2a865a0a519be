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

// The configuration of a client.
struct ClientOptions {
  std::string engine = "epoll";  // a name of list_engines()
  std::string connect{};         // HOST:PORT, [IPV6]:PORT or unix:PATH; empty for engines without sockets
  LoadPlan load{};               // number of connections, and the traffic of each
  unsigned threads = 1;          // event loops, for engines that have several
  Wait wait = Wait::block;
  Settings knobs{};    // knobs of the engine; knobs that are not given have their defaults
  Settings options{};  // options of the protocol; options that are not given have their defaults
  Limits limits{};
  SocketOptions socket{};
};

// Times from the intended send of a request to its verified reply. A percentile is empty when fewer than 10
// replies lie beyond it.
struct Latencies {
  Duration min{}, mean{}, max{};
  std::optional<Duration> p50{}, p90{}, p99{}, p99_9{};
};

// The result of a client's run. Messages and latencies are those of the timed window.
struct ClientResult {
  std::uint64_t connections_opened = 0;
  std::uint64_t connections_failed = 0;  // could not be opened, or ended by a failure
  std::uint64_t reconnects = 0;          // lost connections that were dialled again, and opened
  std::uint64_t handovers = 0;           // connections that ended with a reply, and were dialled again
  std::uint64_t messages_sent = 0;       // requests; sent = verified + failed + lost + in flight
  std::uint64_t messages_verified = 0;   // correct replies
  std::uint64_t messages_failed = 0;
  std::uint64_t messages_lost = 0;       // without a reply in the request timeout; lossy deliveries only
  std::uint64_t messages_in_flight = 0;  // unanswered when the window closed
  std::uint64_t bytes_sent = 0;          // bytes of the whole run
  std::uint64_t bytes_received = 0;      // bytes of the whole run
  Duration window{};                     // actual length; 0 when the window never opened
  double messages_per_s = 0;             // verified, in the window
  Latencies latencies{};
  Latencies uncorrected{};   // open loop only: times from the actual send; they lack the delays by the server
  bool interrupted = false;  // interrupted by the stop token
  std::array<std::uint64_t, kStages> failures{};  // connections, by Stage
  std::vector<std::string> complaints{};          // messages for people: the first few different failures
  std::vector<std::string> notes{};               // messages for people: events that slowed the client down
  std::vector<ResultGroup> groups{};              // figures that the protocol's service has counted

  // True when no connection failed and every request was answered correctly, is in flight, or was lost by a
  // lossy delivery.
  bool clean() const { return connections_failed == 0 && messages_failed == 0 && !interrupted; }
};

// The client side of a protocol, for programs with a main() of their own. Dials the plan's number of
// connections and runs the protocol's client sessions until they have finished.
class Client {
 public:
  // Resolves the address; connects nothing. Throws std::invalid_argument for invalid options, and
  // std::runtime_error for an engine that this machine cannot run or a host name that cannot be resolved.
  // Both carry the message that the command line prints.
  explicit Client(Protocol protocol, ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Blocks the calling thread until all connections have ended or `stop` is requested. After a stop, requests
  // already sent may still be answered within limits.drain. May be called repeatedly and from any thread, but
  // not concurrently. Failures of connections are in the result. Throws std::system_error when the operating
  // system refuses a resource that the engine needs.
  ClientResult run(std::stop_token stop = {});

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace joust
