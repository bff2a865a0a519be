// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "connection/tally.hpp"
#include "engines/engine.hpp"
#include "joust/protocol.hpp"
#include "load/result.hpp"
#include "load/run.hpp"

namespace joust {

// One load of one protocol by one engine, from its services to its result. drive() is called once.
class Loading {
 public:
  // Makes the client's service and, for engines without a transport, the service that answers in this
  // process. May take long. Throws std::invalid_argument for invalid options.
  Loading(const Engine& engine, const Protocol& protocol, const LoadPlan& plan, const Parameters& asking,
          const Parameters& answering, Tally& tally);

  LoadRun& run() { return run_; }
  // Runs the load. Returns when all connections have ended. `target` is null for engines without a transport.
  // The plan's pauses between messages do not count as idle: a connection ends when it is idle for longer
  // than the limit and the longest pause together. Throws std::runtime_error if the plan's TLS is not
  // possible.
  void drive(const EngineOptions& options, const Limits& limits, const Target* target, Stop& stop);

  // Returns the result. Call after drive().
  LoadResult result(const Usage& used, bool interrupted) const;

 private:
  std::unique_ptr<Service> guarded(const Target* target);

  const Engine& engine_;
  bool numbered_ = true;  // datagrams have numbers
  LoadRun run_;
  Tally& tally_;
  const std::unique_ptr<Service> asking_;
  const std::unique_ptr<Service> answering_;
};

}  // namespace joust
