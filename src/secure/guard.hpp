// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "joust/service.hpp"
#include "secure/token.hpp"

// The guard between a network and a service: peers that do not know a token reach no session.
namespace joust {

// The side of a connection on which both sides prove that they know a token.
enum class GuardSide : unsigned char { server, client };

// Returns a service that runs every session of `service`, which is borrowed, inside TLS 1.3; see
// tls_session.hpp. Streams only.
std::unique_ptr<Service> inside_tls(Service& service, GuardSide side, const Token& token);

// How a client verifies a server that has a certificate.
struct ServerTrust {
  std::string name{};     // a host name, which the server gets too (SNI), or an IP address; empty: none
  std::string ca_file{};  // PEM; empty: the certificates that the system trusts
  bool verified = true;   // false: any certificate will do
};

// Returns a service that runs every session of `service`, which is borrowed, inside TLS 1.2 or 1.3 as a
// client. Streams only. A server that ends a stream without the close of TLS has cut it: that is a failure
// of a session that is not finished. Throws as check_trust() does.
std::unique_ptr<Service> inside_tls(Service& service, const ServerTrust& trust);

// Reads the certificates of clients. Throws std::invalid_argument for a file without one and for a name that
// no certificate is for, std::runtime_error if the system has no certificates.
void check_trust(const ServerTrust& trust);

}  // namespace joust
