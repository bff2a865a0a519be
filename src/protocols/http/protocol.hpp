// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "joust/protocol.hpp"
#include "joust/service.hpp"
#include "protocols/http/target.hpp"
#include "session/handler_session.hpp"

namespace joust::http {

std::vector<ProtocolOption> options();

// Parse the options of a server. They throw std::invalid_argument.
AllowedHosts allowed_hosts(const Parameters& parameters);
bool lists(const Parameters& parameters);
bool serves_dot_files(const Parameters& parameters);
RateRules rates(const Parameters& parameters);
std::uint64_t requests_per_connection(const Parameters& parameters);
const std::string& text(const Parameters& parameters);

// See Protocol::check_server. A load compares with --text what it gets from a directory too.
void check_server(const Parameters& parameters);

// Returns why an option has no effect for this client; empty if it has one. See Protocol::no_effect.
std::string no_effect(const std::string& option, Role side, const Parameters& client);

// See Protocol::no_ceiling: what the servers of this program do not answer as the client wishes.
std::string why_no_answers(const Parameters& server, const Parameters& client);

// See Protocol::repeatable: the server of a race answers the host that its client asks for.
Settings repeatable(Settings server, const Parameters& client);

// Make the two sides of the protocol. Both throw std::invalid_argument for invalid options.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::http
