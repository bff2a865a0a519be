// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "net/stop.hpp"
#include "race/trial/sides.hpp"

namespace joust::race {

// A contestant alive in a generation: its server and its load, with all connections open, and the trial that
// their reports fill in. A step returns false or nothing when the trial has failed, with the reason in the
// trial, or was interrupted. One thread.
class Contender {
 public:
  // `load_forks`: its load has processes whose usage it cannot read itself.
  Contender(std::unique_ptr<ServerSide> server, std::unique_ptr<LoadSide> load, bool load_forks,
            const Stop& stop)
      : server_(std::move(server)), load_(std::move(load)), load_forks_(load_forks), stop_(stop) {}

  // Starts both sides and waits until all connections are open. They are stopped afterwards.
  bool start();
  // Works for this time or so many messages, and then until the last reply has been verified. A turn that is
  // not `recorded` is not in the load's result either.
  std::optional<Turn> take_turn(TurnSize size, bool recorded);
  // Ends both sides in order. The result covers all recorded turns.
  Trial finish();

 private:
  bool finish_in_order();
  bool failed() const { return !trial_.failure.empty() || stop_.requested(); }

  std::unique_ptr<ServerSide> server_;
  std::unique_ptr<LoadSide> load_;
  const bool load_forks_;
  const Stop& stop_;
  Trial trial_{};
};

}  // namespace joust::race
