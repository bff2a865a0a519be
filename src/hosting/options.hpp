// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "engines/engine.hpp"
#include "joust/load_plan.hpp"
#include "joust/protocol.hpp"
#include "load/settings.hpp"
#include "net/address.hpp"
#include "net/socket_options.hpp"
#include "secure/guard.hpp"

// Checks of a program's choice of engines, protocols and addresses. The command line and the classes for
// embedding share these functions, so that both refuse in the same words: std::invalid_argument for an
// invalid choice, std::runtime_error for a choice that this machine does not support.
namespace joust {

class Tally;

// Nothing was begun, because this machine does not support it at present: no interface carries the group.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Refuses knobs and values that the engine does not have, or not in that role.
void check_knobs(const Engine& engine, const Settings& knobs, Role role);

// Returns the engine. It exists, has the role, has the knobs and their values, can carry the protocol and can
// run on this machine, and the protocol is available.
const Engine& checked_engine(const std::string& name, const Settings& knobs, Role role,
                             const Protocol& protocol);

// Returns the options with defaults for the knobs that are not given. `threads` is 1 for engines without
// several loops.
EngineOptions with_standards(const Engine& engine, unsigned threads, Wait wait, const Settings& knobs);

// Returns the same with the values that other choices decide. Refuses a knob that is given beside such a
// choice.
EngineOptions engine_options(const Engine& engine, unsigned threads, Wait wait, const Settings& knobs);

// Refuses options that the protocol does not have, or not for the sides of this process.
void check_options(const Protocol& protocol, const Settings& given, bool serves, bool loads);

// Refuses options that have no effect together with the client's other options. `in_process`: a server with
// the same options is in this process, and an option may have its effect there.
void check_effects(const Protocol& protocol, const Settings& given, const Parameters& client,
                   bool in_process);

// Returns why --payload has no meaning for a client with these options; empty if it has.
std::string payload_unused(const Protocol& protocol, const Parameters& client);

// Refuses options that the side's own engine cannot meet. The plan of a server is null.
void check_demands(const Engine& engine, const Protocol& protocol, const Parameters& parameters,
                   const LoadPlan* plan);

// Refuses a server that strangers can reach if one request may keep all of them waiting, unless the option
// that allows that is among the given ones: then it is meant.
void check_long_work(const Engine& engine, const Protocol& protocol, const Parameters& parameters,
                     const Settings& given);

// Refuses more threads than the engine may have.
void check_threads(const Engine& engine, std::uint64_t threads);
// Refuses more connections than can be open at the same time: a load that waits for all of them would never
// begin.
void check_connections(const Engine& engine, std::uint64_t threads, std::uint64_t connections);

void check_payload(const Engine& engine, const Protocol& protocol, std::size_t payload);

// Throws if `value` is not between both; `option` as the command line names it: "-t,--threads".
void check_between(const char* option, std::uint64_t value, std::uint64_t least, std::uint64_t most);

// Refuses invalid loads: see objection_to() in load/settings.hpp.
void check_load(const LoadPlan& plan, GivenIn place = GivenIn::scenario);

// Returns how a load verifies its server. `connect`: the address as given.
ServerTrust trust_of(const LoadPlan& plan, const std::string& connect);

// Refuses TLS if the engine does not support it, if no name is known that a certificate would be for, or if
// the trusted certificates cannot be read.
void check_tls(const LoadPlan& plan, const Engine& engine, const std::string& connect);

// Refuses to reconnect if the engine or the protocol does not support it.
void check_reconnect(const LoadPlan& plan, const Engine& engine, const Protocol& protocol);

// Returns the addresses to listen on. The standard limit applies to names. An address that other machines can
// reach must be allowed, and is refused for an engine that is not public. An engine that sends to a group
// needs a group that is available with these knobs; otherwise throws Skipped.
std::vector<Endpoint> checked_listen(const std::string& address, bool is_public, const Engine& engine,
                                     const Settings& knobs);

// Requires an address for engines with sockets, and none for the others.
void check_connect(const std::string& address, const Engine& engine);
// Resolves the address to dial. `option` is named in the error.
std::vector<Endpoint> resolved_target(const std::string& address, Duration resolve_limit,
                                      const char* option = "--connect");
// Resolves the address for an engine that may send to a group only.
std::vector<Endpoint> resolved_target(const std::string& address, Duration resolve_limit,
                                      const Engine& engine, const Settings& knobs);

// Refuses an address that sockets of the transport cannot have. For streams, decides whether sockets of the
// endpoint's kind get the congestion control. One that the user has chosen and this machine refuses throws.
// If the default is refused, the machine's own takes its place, and the tally notes it.
void settle_socket(SocketOptions& options, bool congestion_chosen, const Endpoint& endpoint,
                   Transport transport, Tally& tally);

}  // namespace joust
