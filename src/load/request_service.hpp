// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "joust/handler.hpp"
#include "joust/protocol.hpp"
#include "joust/service.hpp"
#include "load/run.hpp"

namespace joust {

// The client side of a request and response protocol: makes a session for each connection of the load, which
// sends by the plan, verifies every reply and records it.
class RequestService : public Service {
 public:
  RequestService(Framing framing, Parameters parameters, MakeExchange make, LoadRun& run)
      : framing_(framing), parameters_(parameters), make_(std::move(make)), run_(run) {}
  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  void not_opened(const Failure& failure, Time now) override;
  std::optional<Redial> redial(Time now) override { return run_.redial(now); }
  Publications* publications() override { return &run_.publications(); }

 private:
  std::unique_ptr<Session> session_of(Channel& channel, const Delivery& delivery);

  Framing framing_;
  Parameters parameters_;
  MakeExchange make_;
  LoadRun& run_;
};

}  // namespace joust
