// SPDX-License-Identifier: MIT
#include "secure/guard.hpp"

#include "secure/challenge_session.hpp"
#include "secure/tls_session.hpp"

namespace joust {

std::string no_guards() {
  return {};
}

std::unique_ptr<Service> inside_tls(Service& service, GuardSide side, const Token& token) {
  return std::make_unique<GuardedService<TlsContext>>(service, side, token);
}

std::unique_ptr<Service> behind_challenge(Service& service, GuardSide side, const Token& token) {
  return std::make_unique<GuardedService<Challenge>>(service, side, token);
}

}  // namespace joust
