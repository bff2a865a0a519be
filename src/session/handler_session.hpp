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
  // `own_numbers`: the protocol's own messages carry the numbers that a lossy delivery needs, see
  // Exchange::carries_numbers().
  HandlerService(Framing framing, std::function<std::unique_ptr<Handler>()> make, const RateRules& rates = {},
                 bool own_numbers = false)
      : framing_(std::move(framing)), make_(std::move(make)), rates_(rates), own_numbers_(own_numbers) {}
  std::unique_ptr<Session> open(const ConnectionInfo& info) override;

 private:
  Framing framing_;
  std::function<std::unique_ptr<Handler>()> make_;
  RateRules rates_;  // rules for incomplete messages, and for unread replies
  bool own_numbers_;
};

}  // namespace joust
