// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "joust/engines.hpp"
#include "joust/limits.hpp"
#include "joust/protocol.hpp"
#include "joust/socket_options.hpp"

namespace joust {

// The configuration of a server. The default is a free port of the loopback interface.
struct ServerOptions {
  std::string engine = "epoll";        // a name of list_engines()
  std::string listen = "127.0.0.1:0";  // HOST:PORT, [IPV6]:PORT or unix:PATH; port 0: any free port
  bool is_public = false;              // must be true for an address that other machines can reach
  unsigned threads = 1;                // event loops, for engines that have several
  Wait wait = Wait::block;
  Settings knobs{};    // knobs of the engine; knobs that are not given have their defaults
  Settings options{};  // options of the protocol; options that are not given have their defaults
  Limits limits{};
  SocketOptions socket{};
};

// A server's counts so far.
struct ServerStatistics {
  std::uint64_t connections_opened = 0;
  std::uint64_t bytes_received = 0;               // bytes of closed connections
  std::uint64_t bytes_sent = 0;                   // bytes of closed connections
  std::array<std::uint64_t, kStages> failures{};  // connections, by Stage
  std::vector<std::string> complaints{};          // messages for people: the first few different failures
  std::vector<std::string> notes{};               // messages for people: events that slowed the server down
  // Figures that the service has counted. Empty until the server has stopped.
  std::vector<ResultGroup> groups{};
};

// A server for programs with a main() and threads of their own. It listens from construction to destruction.
// Peers that connect before run() or start() wait in the accept queue.
//
// A server serves once. All functions: any thread, also concurrently.
class Server {
 public:
  // Makes the service and listens. Throws std::invalid_argument for invalid options and std::runtime_error
  // for an engine that this machine cannot run, before it listens; both carry the message that the command
  // line prints. Throws std::system_error for an address that is in use or not permitted.
  explicit Server(Protocol protocol, ServerOptions options = {});

  // Like stop_now(), but discards the engine's exception.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Return the addresses that the server listens on, with the port: "127.0.0.1:40001". A host name may have
  // several addresses; all have the same port. address() returns the first.
  std::string address() const;
  std::vector<std::string> addresses() const;

  // Serves on the calling thread until `stop` is requested or one of the functions below is called. Throws
  // std::system_error when the operating system refuses a resource that the engine needs, and
  // std::logic_error when the server has served before.
  void run(std::stop_token stop = {});

  // Serves on a new thread, which blocks the program's signals. Throws std::logic_error when the server has
  // served before.
  void start();

  // Requests a stop: no new connections, and limits.drain for open ones to finish. Returns at once. May be
  // called by signal handlers. Before run() or start(), it makes them return at once.
  void request_stop() noexcept;

  // Requests a stop and blocks until serving has ended. Throws the exception that ended the thread of
  // start(), once.
  void stop();

  // Like stop(), without waiting for open connections.
  void stop_now();

  ServerStatistics statistics() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace joust
