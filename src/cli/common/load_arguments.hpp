// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cli/common/command.hpp"
#include "engines/engine.hpp"

namespace joust {

// The option -p PROTOCOL, and every option of every protocol of the program.
struct ProtocolArguments {
  std::string name;  // as given
  std::optional<Option> name_option{};
  Settings given;  // options by name

  // Adds the options. --help shows those of one side, or of both. The others are accepted too, and refused
  // later with a reason.
  void add_to(Command command, const Program& program, Role side);
  void add_options_to(Command command, const Program& program, std::optional<Role> side = {});  // without -p

  // Returns the chosen protocol. Throws UsageError with the nearest name.
  const Protocol& resolve(const Program& program) const;

  // Takes the options of a result, without those that have their default value: they would count as given.
  // Throws UsageError for one whose bytes the result lacks, or that the command line gives another value.
  void take_stored(const Protocol& protocol, const Settings& stored);

  // See check_options() in hosting/options.hpp and parameters_of() in joust/protocol.hpp.
  Parameters parameters(const Protocol& protocol, Role side) const;
  void check(const Protocol& protocol, bool serves, bool loads) const;
};

}  // namespace joust
