// SPDX-License-Identifier: MIT
//
// Replaces the guards where OpenSSL was not found at build time.
#include <stdexcept>

#include "secure/guard.hpp"

namespace joust {

std::string no_guards() {
  return "OpenSSL 3 not found at build time: script/setup tls && script/build";
}

Token::Token(std::string_view) {
  throw std::runtime_error(no_guards());
}
Token::~Token() = default;

Token Token::make() {
  throw std::runtime_error(no_guards());
}

std::unique_ptr<Service> inside_tls(Service&, GuardSide, const Token&) {
  throw std::runtime_error(no_guards());
}

std::unique_ptr<Service> inside_tls(Service&, const ServerTrust&) {
  throw std::runtime_error(no_guards());
}

void check_trust(const ServerTrust&) {
  throw std::runtime_error(no_guards());
}

}  // namespace joust
