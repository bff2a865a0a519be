// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "joust/service.hpp"
#include "secure/token.hpp"

// What stands between a network and a service: peers that do not know a token reach no session.
namespace joust {

// Of the two that prove to each other that they know a token.
enum class GuardSide : unsigned char { server, client };

// Why this program has no guard, and how to get them; empty if it has.
std::string no_guards();

// The same service, which is borrowed, with every session inside TLS 1.3; see tls_session.hpp. Streams only.
std::unique_ptr<Service> inside_tls(Service& service, GuardSide side, const Token& token);

}  // namespace joust
