// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <span>
#include <string>
#include <vector>

#include "conformance/peer.hpp"
#include "conformance/variants.hpp"
#include "connection/tally.hpp"
#include "engines/engine.hpp"
#include "net/listeners.hpp"
#include "net/stop.hpp"
#include "net/target.hpp"

namespace joust::conformance {

// Limits that end what has to end soon, and cut off nobody who is alive.
Limits brisk();

// What a run works on: see Hosting.
struct Task {
  Service& service;
  std::span<Listener* const> listeners = {};
  const Target* target = nullptr;
  std::size_t dials = 0;
  Service* answering = nullptr;
};

// The run of an engine on a thread of its own. One that hangs ends the whole program, with its name: nothing
// that comes after could be trusted.
class Run {
 public:
  Run(const Variant& variant, const Limits& limits, const Task& task);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Stop& stop() { return stop_; }
  Tally& tally() { return tally_; }
  bool over_within(Duration time);
  void wait();  // for run() to return; throws what it threw

 private:
  std::string name_;
  EngineOptions options_;
  Limits limits_;
  Tally tally_;
  Stop stop_;
  Hosting hosting_;
  std::future<void> done_;
};

struct Serving {
  std::string address = "127.0.0.1:0";
  Limits limits = brisk();
  SocketOptions socket{};
};

// A server that echoes answers this peer.
void expect_to_be_served(Peer& peer);

// An engine that serves.
class Server {
 public:
  Server(const Variant& variant, Service& service, const Serving& how = {});
  Server(const Variant& variant, Service& service, const Serving& how, std::span<const Endpoint> endpoints);

  const Endpoint& endpoint() const { return endpoint_; }  // the first
  const Listeners& listeners() const { return listeners_; }
  Tally& tally() { return run_.tally(); }
  Run& run() { return run_; }
  void stop();  // once, and waits

 private:
  Listeners listeners_;
  Endpoint endpoint_;
  Run run_;
};

// An engine that dials.
class Dialling {
 public:
  Dialling(const Variant& variant, Service& service, std::vector<Endpoint> to, std::size_t dials,
           const Limits& limits = brisk());
  Tally& tally() { return run_.tally(); }
  Run& run() { return run_; }

 private:
  Target target_;
  Run run_;
};

// An address of a unix socket that no other test uses.
std::string unix_address();

}  // namespace joust::conformance
