// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cli/common/command.hpp"
#include "engines/engine.hpp"

namespace joust {

// -p PROTOCOL, and every option any protocol of the program has.
struct ProtocolArguments {
  std::string name;                          // as given
  Settings given;  // options

  // The help shows those of one side, or of both; the others are known too, to be refused with a reason.
  void add_to(Command command, const Program& program, Role side);
  void add_options_to(Command command, const Program& program, std::optional<Role> side = {});  // without -p

  // Throws UsageError with the nearest name.
  const Protocol& resolve(const Program& program) const;

  // See check_options() and parameters_of() in hosting/options.hpp.
  Parameters parameters(const Protocol& protocol, Role side) const;
  void check(const Protocol& protocol, bool serves, bool loads) const;
};

}  // namespace joust
