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

// What a server shall be. The defaults make one on a free port of the loopback interface.
struct ServerOptions {
  std::string engine = "epoll";        // a name of list_engines()
  std::string listen = "127.0.0.1:0";  // HOST:PORT, [IPV6]:PORT or unix:PATH; port 0: any free one
  bool is_public = false;              // must be true for an address that other machines can reach
  unsigned threads = 1;                // event loops, for engines that have several
  Wait wait = Wait::block;
  Settings knobs{};    // of the engine; those not named have their defaults
  Settings options{};  // of the protocol, likewise
  Limits limits{};
  SocketOptions socket{};
};

// What a server has done so far.
struct ServerStatistics {
  std::uint64_t connections_opened = 0;
  std::uint64_t bytes_received = 0;  // of connections that have closed
  std::uint64_t bytes_sent = 0;      // of connections that have closed
  std::array<std::uint64_t, kStages> failures{};  // connections, by Stage
  std::vector<std::string> complaints{};          // the first few failures that differ, for people
  std::vector<std::string> notes{};               // events that slowed the server down, for people
  std::vector<ResultGroup> groups{};              // of the service; empty until the server has stopped
};

// A server inside a program that has a main() and threads of its own. It listens from its construction to its
// end. Peers that connect before run() or start() wait in the accept queue.
//
// A server serves once. Every function may be called by any thread, also while another one runs.
class Server {
 public:
  // Makes the service and listens. Throws, before anything is listened on, std::invalid_argument for options
  // that cannot be, and std::runtime_error for an engine that this machine cannot run; both say what is wrong
  // and what to do, as the command line does. Throws std::system_error for an address that is taken or not
  // permitted.
  explicit Server(Protocol protocol, ServerOptions options = {});

  // Stops as stop_now() does; then a failure of the engine is lost.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where it listens, with the port: "127.0.0.1:40001". Several where the name stands for several addresses,
  // all with one port; address() is the first.
  std::string address() const;
  std::vector<std::string> addresses() const;

  // Serves on the calling thread until `stop` is requested or one of the functions below is called. Throws
  // std::system_error when the machine refuses what the engine cannot do without; std::logic_error when the
  // server has served before.
  void run(std::stop_token stop = {});

  // Serves on a thread of its own, which takes no signals of the program. Throws std::logic_error when the
  // server has served before.
  void start();

  // Asks for the end: no new connections, what was begun is finished within limits.drain. Returns at once.
  // Signal handlers may call it too. Before run() or start(), these will end as soon as they have begun.
  void request_stop() noexcept;

  // Asks for the end and returns when serving has ended. Throws what has ended the thread of start(), once.
  void stop();

  // The same without waiting for open connections.
  void stop_now();

  ServerStatistics statistics() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace joust
