// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/common/command_line.hpp"
#include "secure/guard.hpp"

namespace joust {

// The token that admits peers: --token-file or the variable JOUST_TOKEN. A token is never an argument,
// because every user of the machine can see arguments.
class GuardArguments {
 public:
  explicit GuardArguments(GuardSide side) : side_(side) {}
  void add_to(Command command);

  // Reads the token. Call after parsing, once. Throws UsageError for a token that cannot be read or is
  // invalid. Removes the variable, so that no child inherits it.
  void complete();

  bool has_token() const { return token_.has_value(); }
  // Describes the guard: "TLS 1.3 and a token" or "no token".
  std::string words() const;
  // Returns the arguments that clients need: " --token-file TOKEN", or none.
  std::string words_for_clients() const;

  // Returns the service, which is borrowed, inside TLS; null without a token.
  std::unique_ptr<Service> guard(Service& service) const;

 private:
  const GuardSide side_;
  std::string file_;
  std::optional<Token> token_;
};

// Writes a new token to a new file that only its owner can read. Throws UsageError if a file of that name
// exists, and std::system_error.
void write_new_token(const std::string& path);

}  // namespace joust
