// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "cli/common/command_line.hpp"
#include "engines/engine.hpp"
#include "joust/load_plan.hpp"
#include "joust/protocol.hpp"

namespace joust {

// Whether and when a load dials lost connections again: --reconnect, --backoff, --reconnect-for.
class ReconnectArguments {
 public:
  // --reconnect-for goes to `plan`, which outlives the command line.
  void add_to(Command command, LoadPlan& plan);
  // After parsing: the rest. Throws UsageError for what means nothing together.
  void complete(LoadPlan& plan, const Engine& engine, const Protocol& protocol) const;

 private:
  std::string reconnect_, backoff_;
  std::optional<Option> limit_{};
};

}  // namespace joust
