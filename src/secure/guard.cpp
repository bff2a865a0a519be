// SPDX-License-Identifier: MIT
#include "secure/guard.hpp"

#include <utility>

#include "secure/challenge_session.hpp"
#include "secure/tls_session.hpp"

namespace joust {

std::string no_guards() {
  return {};
}

std::unique_ptr<Service> inside_tls(std::unique_ptr<Service> service, GuardSide side, const Token& token) {
  return std::make_unique<GuardedService<TlsContext>>(std::move(service), side, token);
}

std::unique_ptr<Service> behind_challenge(std::unique_ptr<Service> service, GuardSide side,
                                          const Token& token) {
  return std::make_unique<GuardedService<Challenge>>(std::move(service), side, token);
}

}  // namespace joust
