// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/memory.hpp"
#include "hostile/findings.hpp"
#include "joust/service.hpp"

namespace joust::hostile {

// A service around another one that holds the engine to the contract of Session: which call may come when,
// how many bytes may be acknowledged, and that one thread at a time touches a session. What breaks it is a
// finding. All methods: any thread.
class StrictService : public Service {
 public:
  StrictService(Service& inner, Findings& findings) : inner_(inner), findings_(findings) {}

  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  void not_opened(const Failure& failure, Time now) override;
  Publications* publications() override { return inner_.publications(); }
  std::vector<ResultGroup> results() const override { return inner_.results(); }

  std::uint64_t opened() const { return counts_->opened; }
  std::uint64_t alive() const { return counts_->alive; }      // sessions that have not been destroyed
  std::uint64_t refused() const { return counts_->refused; }  // calls of not_opened()
  std::uint64_t consumed() const {
    return counts_->consumed;
  }  // bytes of output, of sessions that have ended

 private:
  friend class StrictSession;

  Service& inner_;
  Findings& findings_;
  struct Counts {
    std::atomic<std::uint64_t> opened{0}, alive{0}, refused{0}, consumed{0};
  };
  SharedMemory<Counts> counts_;  // sessions may live in other processes
};

}  // namespace joust::hostile
