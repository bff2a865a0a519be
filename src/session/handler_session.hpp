// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "joust/handler.hpp"
#include "joust/service.hpp"
#include "session/least_rate.hpp"

namespace joust {

// The server side of a request and response protocol: makes sessions with a framing and a handler each.
class HandlerService : public Service {
 public:
  HandlerService(Framing framing, std::function<std::unique_ptr<Handler>()> make, const RateRules& rates = {})
      : framing_(framing), make_(std::move(make)), rates_(rates) {}
  std::unique_ptr<Session> open(const ConnectionInfo& info) override;

 private:
  Framing framing_;
  std::function<std::unique_ptr<Handler>()> make_;
  RateRules rates_;  // rules for incomplete messages, and for unread replies
};

}  // namespace joust
