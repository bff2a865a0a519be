// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "base/memory.hpp"
#include "conformance/peer.hpp"
#include "conformance/variants.hpp"
#include "connection/tally.hpp"
#include "engines/engine.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"
#include "net/target.hpp"

namespace joust::conformance {

// Short limits for endings, which still do not cut off a working peer.
Limits brisk();

// The input of a run: see Hosting.
struct Task {
  Service& service;
  std::span<Listener* const> listeners = {};
  const Target* target = nullptr;
  std::size_t dials = 0;
  std::size_t vacancies = 0;
  Service* answering = nullptr;
};

// An engine's run on its own thread. A run that hangs ends the whole program with a message, because later
// results could not be trusted.
//
// A server that forks runs in a process of its own, without the test's threads and sockets: a child of the
// engine would otherwise keep the test's end of each connection open. Its services are copies there, so a
// test sees what peers see, and what is in SharedMemory: the tally, the stop, the log of a ScriptedService.
class Run {
 public:
  Run(const Variant& variant, const Limits& limits, const Task& task);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Stop& stop() { return stop_; }
  Tally& tally() { return tally_; }
  unsigned times_ready() const { return *times_ready_; }  // how often the engine has said that it serves
  bool over_within(Duration time);
  void wait();  // for the return of run(); throws its exception

 private:
  // The last words of a run in a process of its own.
  struct Ending {
    int error;  // of a std::system_error
    std::array<char, 256> words;
  };

  void run_in_a_process(void (*run)(const Hosting&, Stop&));
  void await_process(pid_t process);

  std::string name_;
  EngineOptions options_;
  Limits limits_;
  Tally tally_;
  Stop stop_;
  SharedMemory<Ending> ending_{};
  SharedMemory<std::atomic<unsigned>> times_ready_{0U};
  Hosting hosting_;
  std::future<void> done_;
};

struct Serving {
  std::string address{};  // empty: the engine's own
  Limits limits = brisk();
  SocketOptions socket{};
};

// Expects an echo server to answer this peer.
void expect_to_be_served(Peer& peer);

// A serving engine.
class Server {
 public:
  Server(const Variant& variant, Service& service, const Serving& how = {});
  Server(const Variant& variant, Service& service, const Serving& how, std::span<const Endpoint> endpoints);

  const Endpoint& endpoint() const { return endpoint_; }  // the first one
  const Listeners& listeners() const { return listeners_; }
  Tally& tally() { return run_.tally(); }
  Run& run() { return run_; }
  void stop();  // stops and waits; call once

 private:
  Listeners listeners_;
  Endpoint endpoint_;
  Run run_;
};

// A dialling engine.
class Dialling {
 public:
  Dialling(const Variant& variant, Service& service, std::vector<Endpoint> to, std::size_t dials,
           const Limits& limits = brisk(), std::size_t vacancies = 0);
  Tally& tally() { return run_.tally(); }
  Run& run() { return run_; }

 private:
  Target target_;
  Run run_;
};

// What the engine's library keeps until the process ends: it must be there before the first count.
void let_library_begin(const Variant& variant);

// The address of a unix socket that no other test uses.
std::string unix_address();

}  // namespace joust::conformance
