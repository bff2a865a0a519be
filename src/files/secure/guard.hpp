// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "files/secure/token.hpp"
#include "joust/service.hpp"

// The guard between a network and a service: peers that do not know a token reach no session.
namespace joust {

// The side of a connection on which both sides prove that they know a token.
enum class GuardSide : unsigned char { server, client };

// The reason why this program has no guard, and how to get one; empty if it has.
std::string no_guards();

// Returns a service that runs every session of `service`, which is borrowed, inside TLS 1.3; see
// tls_session.hpp. Streams only.
std::unique_ptr<Service> inside_tls(Service& service, GuardSide side, const Token& token);

}  // namespace joust
