// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "hostile/findings.hpp"
#include "joust/service.hpp"

namespace joust::hostile {

// A service around another one that holds the engine to the contract of Session: which call may come when,
// how many bytes may be acknowledged, and that one thread at a time touches a session. What breaks it is a
// finding. All methods: any thread.
class StrictService : public Service {
 public:
  StrictService(Service& inner, Findings& findings) : inner_(inner), findings_(findings) {}

  std::unique_ptr<Session> open(const Opening& opening) override;
  void not_opened(const Failure& failure, Time now) override;
  Publications* publications() override { return inner_.publications(); }
  std::vector<ResultGroup> results() const override { return inner_.results(); }

  std::uint64_t opened() const { return opened_; }
  std::uint64_t alive() const { return alive_; }            // sessions that have not been destroyed
  std::uint64_t refused() const { return refused_; }        // calls of not_opened()
  std::uint64_t consumed() const { return consumed_; }      // bytes of output, of sessions that have ended

 private:
  friend class StrictSession;

  Service& inner_;
  Findings& findings_;
  std::atomic<std::uint64_t> opened_{0}, alive_{0}, refused_{0}, consumed_{0};
};

}  // namespace joust::hostile
