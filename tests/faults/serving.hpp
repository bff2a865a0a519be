// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>

#include "conformance/running.hpp"
#include "faults/exchange.hpp"
#include "faults/marked_engine.hpp"
#include "hostile/strict_service.hpp"

namespace joust::faults {

// An engine that serves, marked and held to the contract of Session, for the length of one exchange.
class Serving {
 public:
  Serving(const conformance::Variant& variant, Service& service);

  const Endpoint& endpoint() const { return server_->endpoint(); }

  // A part of the exchange with one client: it throws where the client is lost, and WrongReply for a fault.
  void client(const std::function<void()>& part);

  // The stop; `before_end` is called when it has been requested. Then the books are looked at.
  Outcome stop(const std::function<void()>& before_end = [] {});

 private:
  MarkedEngine engine_;
  hostile::Findings findings_;
  hostile::StrictService service_;
  Outcome outcome_;
  std::optional<conformance::Server> server_;
};

// Limits under which an exchange does not wait for long.
Limits hasty();

}  // namespace joust::faults
