// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/common/command_line.hpp"
#include "secure/guard.hpp"

namespace joust {

// What lets peers in: --token-file or the variable JOUST_TOKEN. A token is never an argument, because
// every user of the machine sees those.
class GuardArguments {
 public:
  explicit GuardArguments(GuardSide side) : side_(side) {}
  void add_to(Command command);

  // After parsing, once. Throws UsageError for a token that cannot be read or is none. Ends the variable, so
  // that no child inherits it.
  void complete();

  bool has_token() const { return token_.has_value(); }
  // "TLS 1.3 and a token" or "no token".
  std::string words() const;
  // What clients have to say: " --token-file TOKEN", or nothing.
  std::string words_for_clients() const;

  // The service, which is borrowed, inside TLS; null without a token.
  std::unique_ptr<Service> guard(Service& service) const;

 private:
  const GuardSide side_;
  std::string file_;
  std::optional<Token> token_;
};

// A new token in a new file that only its owner can read. Throws UsageError if there is a file of that name,
// and std::system_error.
void write_new_token(const std::string& path);

}  // namespace joust
